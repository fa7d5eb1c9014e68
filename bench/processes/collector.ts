import { startChild } from './child.ts';

export interface Collector extends AsyncDisposable {
  readonly url: string;
}

/** Takes spans over OTLP and throws them away, in a process of its own whose time is not counted. */
export async function startCollector(): Promise<Collector> {
  const child = await startChild('collector-process.ts');
  return {
    url: `http://127.0.0.1:${await child.ask<number>('port')}`,
    [Symbol.asyncDispose]: async () => {
      await child[Symbol.asyncDispose]();
    },
  };
}
