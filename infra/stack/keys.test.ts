import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { digestOfSecret, parseEnvironment, sharedEnvironment } from '@waybill/shared/config/environment';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { firstKeys, stackKeys } from './keys.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'keys-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

test('made keys are what services accept, a key for each role', async () => {
  const keys = await stackKeys({}, undefined);
  const { WAYBILL_API_KEYS, WAYBILL_SECRET_KEYS } = sharedEnvironment;
  const parsed = parseEnvironment({ WAYBILL_API_KEYS, WAYBILL_SECRET_KEYS }, { ...keys });
  expect(parsed.WAYBILL_API_KEYS.map(({ role }) => role)).toEqual(['ingest', 'operator', 'admin']);
  expect(parsed.WAYBILL_SECRET_KEYS).toHaveLength(1);
  expect(Object.values(firstKeys(keys.WAYBILL_API_KEYS)).map((key) => digestOfSecret(key ?? ''))).toEqual(
    parsed.WAYBILL_API_KEYS.map(({ digest }) => digest),
  );
});

test('kept keys are the same next time and nobody else can read them', async () => {
  const first = await stackKeys({}, directory);
  expect(await stackKeys({}, directory)).toEqual(first);
  expect((await stat(join(directory, 'keys.json'))).mode & 0o777).toBe(0o600);
  expect(await stackKeys({}, undefined)).not.toEqual(first);
});

test('keys from the environment are used and not written down', async () => {
  const env = { WAYBILL_API_KEYS: 'me:admin:very-secret-indeed' };
  expect((await stackKeys(env, directory)).WAYBILL_API_KEYS).toBe(env.WAYBILL_API_KEYS);
  expect(await readFile(join(directory, 'keys.json'), 'utf8')).not.toContain('very-secret-indeed');
});

test('the first key of each role is shown, null where there is none', () => {
  expect(firstKeys('a:admin:one:with:colons, b:admin:two,c:ingest:three')).toEqual({
    ingest: 'three',
    operator: null,
    admin: 'one:with:colons',
  });
});
