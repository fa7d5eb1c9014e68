import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { progressInWords } from './meter.ts';
import { ProgressFile } from './progress-file.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'waybill-progress-'));
});
afterEach(() => rm(directory, { recursive: true }));

const progress = {
  mark: { bytes: 1_000, lines: 10, digest: 'abc' },
  counts: { accepted: 8, duplicate: 1, conflict: 0, invalid: 1 },
};

describe('the progress file', () => {
  it('gives back what was written last, and leaves nothing else behind', async () => {
    const file = new ProgressFile(join(directory, 'p'), 'http://a');
    expect(await file.read()).toBeNull();
    await file.write({ ...progress, mark: { ...progress.mark, bytes: 1 } });
    await file.write(progress);
    expect(await file.read()).toEqual(progress);
    expect(await readdir(directory)).toEqual(['p']);
    await file.remove();
    await file.remove();
    expect(await readdir(directory)).toEqual([]);
  });

  it('is not that of another Waybill', async () => {
    await new ProgressFile(join(directory, 'p'), 'http://a').write(progress);
    const reading = new ProgressFile(join(directory, 'p'), 'http://b').read();
    await expect(reading).rejects.toMatchObject({
      exit: 'data',
      message: expect.stringContaining('http://a'),
    });
  });

  it.each(['', 'notes of mine', '{"format":1}', '{"format":2}'])('is not %j', async (text) => {
    const path = join(directory, 'p');
    await writeFile(path, text);
    await expect(new ProgressFile(path, 'http://a').read()).rejects.toMatchObject({ exit: 'data' });
  });

  it('says where it cannot be written', async () => {
    const file = new ProgressFile(join(directory, 'none', 'p'), 'http://a');
    await expect(file.write(progress)).rejects.toThrow('--state');
  });
});

describe('progress in words', () => {
  const start = { at: 0, bytes: 0, events: 0 };

  it('says how many, how fast, how much is left, and what became of them', () => {
    const counts = { accepted: 12_499, duplicate: 0, conflict: 0, invalid: 1 };
    const mark = { ...progress.mark, bytes: 500 };
    expect(progressInWords({ mark, counts }, start, 5_000, 1_000)).toBe(
      '12,500 events, 50%, 2,500/s, 5 s left; 12,499 accepted, 1 invalid',
    );
  });

  it('counts the speed from where it went on, and knows no end of what has none', () => {
    const from = { at: 0, bytes: 900, events: 9 };
    expect(progressInWords(progress, from, 1_000, null)).toBe(
      '10 events, 1/s; 8 accepted, 1 duplicate, 1 invalid',
    );
  });
});
