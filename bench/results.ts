import { mkdir, writeFile } from 'node:fs/promises';
import { cpus, loadavg, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';

/** What kind of machine it is; not which. */
export interface Machine {
  readonly cores: number;
  readonly processor: string;
  readonly memoryGb: number;
  readonly node: string;
  /** Runnable tasks in the minute before, this one's not included: others at work make every figure smaller. */
  readonly load: number;
}

export function machineNow(): Machine {
  return {
    cores: cpus().length,
    processor: cpus()[0]?.model ?? 'unknown',
    memoryGb: Math.round(totalmem() / 1_000_000_000),
    node: process.version,
    load: Number((loadavg()[0] ?? 0).toFixed(1)),
  };
}

/** Keeps a result under its suite's name; a later one of the same suite and options' `label` takes its place. */
export async function keepResult(name: string, result: object): Promise<string> {
  const directory = new URL('results/', import.meta.url);
  await mkdir(directory, { recursive: true });
  const file = fileURLToPath(new URL(`${name}.json`, directory));
  await writeFile(file, `${JSON.stringify(result, null, 2)}\n`);
  return file;
}
