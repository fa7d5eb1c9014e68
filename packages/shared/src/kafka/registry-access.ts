import { Agent as HttpsAgent } from 'node:https';
import type { SchemaRegistryAPIClientArgs } from '@kafkajs/confluent-schema-registry/dist/api/index.js';
import { Agent, type Dispatcher, request } from 'undici';

/** How a registry wants to be spoken to: as whom, by HTTP basic authentication, and who signs its certificate (PEM). */
export interface RegistryAccess {
  readonly username?: string;
  readonly password?: string;
  readonly ca?: string;
}

/** Asks a registry without its client. */
export type AskRegistry = (url: string, timeoutMs: number) => Promise<Dispatcher.ResponseData>;

export function askingWith({ username, password, ca }: RegistryAccess): AskRegistry {
  const dispatcher = ca === undefined ? undefined : new Agent({ connect: { ca } });
  const credentials = Buffer.from(`${username}:${password}`).toString('base64');
  const headers = username === undefined ? {} : { authorization: `Basic ${credentials}` };
  return (url, timeoutMs) =>
    request(url, {
      headers,
      signal: AbortSignal.timeout(timeoutMs),
      ...(dispatcher === undefined ? {} : { dispatcher }),
    });
}

/** The same for the registry's client. */
export function clientAccess({
  username,
  password = '',
  ca,
}: RegistryAccess): Pick<SchemaRegistryAPIClientArgs, 'auth' | 'agent'> {
  return {
    ...(username === undefined ? {} : { auth: { username, password } }),
    ...(ca === undefined ? {} : { agent: new HttpsAgent({ ca, keepAlive: true }) }),
  };
}
