import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const MAIN = fileURLToPath(new URL('main.ts', import.meta.url));

describe('a command', () => {
  it('whose output goes to a full disk says so, and does not end as if the answer was no', async () => {
    const child = spawn(process.execPath, [MAIN, '--help'], {
      stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'],
    });
    let said = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    const [status] = await once(child, 'close');
    expect([status, said]).toEqual([
      74,
      expect.stringMatching(/^waybill: the output cannot be written: ENOSPC/),
    ]);
  });
});
