import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigurationError } from '@waybill/shared/config/configuration-error';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ConnectionOptions, readConnection } from './connection.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'waybill-connection-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

function faultsOf(options: ConnectionOptions, env: Record<string, string>): readonly string[] {
  try {
    readConnection(options, env);
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError);
    return (error as ConfigurationError).faults;
  }
}

describe('the connection', () => {
  const env = { WAYBILL_URL: 'http://127.0.0.1:8080', WAYBILL_API_KEY: 'the-secret-of-a-key' };

  it('is what the environment says, and options before it', () => {
    expect(readConnection({}, env)).toMatchObject({ url: env.WAYBILL_URL, apiKey: env.WAYBILL_API_KEY });
    const file = join(directory, 'key');
    writeFileSync(file, 'another-key\n');
    expect(readConnection({ url: 'https://waybill.example', apiKeyFile: file, timeout: 5 }, env)).toEqual({
      url: 'https://waybill.example',
      answerWithinMs: 5,
      apiKey: 'another-key',
    });
  });

  it('tells every fault at once', () => {
    expect(faultsOf({}, { WAYBILL_URL: '', WAYBILL_API_KEY: '' })).toEqual([
      expect.stringContaining('WAYBILL_URL is not set'),
      expect.stringContaining('WAYBILL_API_KEY is not set'),
    ]);
  });

  it.each(['127.0.0.1:8080', 'ftp://host', 'http://', 'http://user:word@host'])('refuses %s', (url) => {
    expect(faultsOf({ url }, env)).toEqual([expect.stringContaining('--url')]);
  });

  it('never shows a key', () => {
    const key = 'secret with space';
    const faults = faultsOf({}, { ...env, WAYBILL_API_KEY: key });
    expect(faults).toEqual([expect.stringContaining('WAYBILL_API_KEY')]);
    expect(faults.join()).not.toContain('secret');
    expect(faultsOf({ apiKeyFile: join(directory, 'none') }, env)).toEqual([
      expect.stringContaining('ENOENT'),
    ]);
  });
});
