import { readFileSync } from 'node:fs';
import { createWaybillClient, type WaybillClient } from '@waybill/client';
import { ConfigurationError } from '@waybill/shared/config/configuration-error';
import type { Io } from './io.ts';

/** How long an answer is waited for unless --timeout says it, in milliseconds: more than any call takes that is well. */
export const ANSWER_WITHIN_MS = 120_000;

export interface ConnectionOptions {
  readonly url?: string;
  readonly apiKeyFile?: string;
  readonly timeout?: number;
}

/** Where Waybill is, and the secret to call it with. */
export interface Connection {
  readonly url: string;
  readonly apiKey: string;
  /** How long an answer is waited for, in milliseconds. */
  readonly answerWithinMs: number;
}

/**
 * Reads options, and of what they leave out the environment. There is no option that takes the key itself: every
 * process of the machine can read the arguments of every other.
 *
 * @throws ConfigurationError with every fault at once; it never shows the key.
 */
export function readConnection(
  { url, apiKeyFile, timeout = ANSWER_WITHIN_MS }: ConnectionOptions,
  env: Io['env'],
): Connection {
  const faults: string[] = [];
  const address = url ?? (env.WAYBILL_URL || undefined);
  if (address === undefined)
    faults.push(
      'WAYBILL_URL is not set: the address of a scheduler (`scheduler` in what `pnpm stack` prints)',
    );
  else if (!/^https?:\/\//.test(address) || !URL.canParse(address))
    faults.push(`${url === undefined ? 'WAYBILL_URL' : '--url'} must be an http or https address`);
  else if (new URL(address).username !== '' || new URL(address).password !== '')
    faults.push(`${url === undefined ? 'WAYBILL_URL' : '--url'} must hold no user name and no password`);
  const apiKey = apiKeyFile === undefined ? env.WAYBILL_API_KEY || undefined : readKey(apiKeyFile, faults);
  if (apiKey === undefined && apiKeyFile === undefined)
    faults.push(
      'WAYBILL_API_KEY is not set: the secret of a key (one of `apiKeys` in what `pnpm stack` prints)',
    );
  else if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey))
    faults.push(
      `${apiKeyFile === undefined ? 'WAYBILL_API_KEY' : '--api-key-file'} holds white space or what no key has`,
    );
  if (faults.length > 0 || address === undefined || apiKey === undefined)
    throw new ConfigurationError(faults);
  return { url: address, apiKey, answerWithinMs: timeout };
}

/** A line break at the end is the editor's, not the key's. */
function readKey(file: string, faults: string[]): string | undefined {
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    faults.push(`--api-key-file ${file} cannot be read (${code})`);
    return undefined;
  }
}

/** @param signal ends every call. */
export function connect(connection: Connection, signal?: AbortSignal): WaybillClient {
  return createWaybillClient({
    baseUrl: connection.url,
    apiKey: connection.apiKey,
    answerWithinMs: connection.answerWithinMs,
    headers: { 'User-Agent': 'waybill-cli' },
    ...(signal === undefined ? {} : { signal }),
  });
}
