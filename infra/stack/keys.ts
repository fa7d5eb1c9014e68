import { randomBytes } from 'node:crypto';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const KEYS_FILE = 'keys.json';
const ROLES = ['ingest', 'operator', 'admin'] as const;

/** The two settings of services that hold secrets, in the form in which the environment carries them. */
export interface StackKeys {
  WAYBILL_API_KEYS: string;
  WAYBILL_SECRET_KEYS: string;
}

/** A key per role, for people to use; null where there is none of that role. */
export type ApiKeys = Record<(typeof ROLES)[number], string | null>;

/**
 * The keys from the environment; where one is unset, the one kept in `keepIn`, else a random one. With `keepIn`
 * random ones are kept there, readable by their owner alone.
 */
export async function stackKeys(env: NodeJS.ProcessEnv, keepIn: string | undefined): Promise<StackKeys> {
  const kept = keepIn === undefined ? {} : await readKept(join(keepIn, KEYS_FILE));
  const own = {
    WAYBILL_API_KEYS: kept.WAYBILL_API_KEYS ?? randomApiKeys(),
    WAYBILL_SECRET_KEYS: kept.WAYBILL_SECRET_KEYS ?? randomSecretKey(),
  };
  if (keepIn !== undefined) await keep(join(keepIn, KEYS_FILE), own);
  return {
    WAYBILL_API_KEYS: env.WAYBILL_API_KEYS || own.WAYBILL_API_KEYS,
    WAYBILL_SECRET_KEYS: env.WAYBILL_SECRET_KEYS || own.WAYBILL_SECRET_KEYS,
  };
}

/** The first key of each role from `name:role:secret,…`. Entries that are not of that form are passed over. */
export function firstKeys(apiKeys: string): ApiKeys {
  const first: ApiKeys = { ingest: null, operator: null, admin: null };
  for (const entry of apiKeys.split(',')) {
    const [, role = '', ...secret] = entry.trim().split(':');
    for (const known of ROLES) {
      if (role === known && first[known] === null) first[known] = secret.join(':') || null;
    }
  }
  return first;
}

function randomApiKeys(): string {
  return ROLES.map((role) => `${role}:${role}:${randomBytes(24).toString('base64url')}`).join(',');
}

function randomSecretKey(): string {
  return `local:${randomBytes(32).toString('base64')}`;
}

async function readKept(path: string): Promise<Partial<StackKeys>> {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
    throw new Error(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function keep(path: string, keys: StackKeys): Promise<void> {
  await writeFile(path, `${JSON.stringify(keys, null, 2)}\n`, { mode: 0o600 });
  // The mode above is not applied to a file that exists.
  await chmod(path, 0o600);
}
