import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { startHeldProcess } from '@waybill/infra/engines/held-process';

interface Question {
  readonly id: number;
  readonly name: string;
  readonly argument: unknown;
}

interface Reply {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: string;
}

/** A part of a measurement in a process of its own, so that what it costs is seen apart. */
export interface Child extends AsyncDisposable {
  readonly pid: number;
  /** Asks the process to do something it named to `answer`. Rejects with what went wrong there, or if it ends. */
  ask<Result>(name: string, argument?: unknown): Promise<Result>;
}

/** @param file beside this one or relative to it; it calls `answer`. */
export async function startChild(file: string, env: NodeJS.ProcessEnv = {}): Promise<Child> {
  const held = await startHeldProcess(process.execPath, [fileURLToPath(new URL(file, import.meta.url))], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    graceMs: 0,
  });
  const open = new Map<number, PromiseWithResolvers<unknown>>();
  held.child.on('message', (message) => {
    const { id, result, error } = message as Reply;
    const asked = open.get(id);
    open.delete(id);
    if (error === undefined) asked?.resolve(result);
    else asked?.reject(new Error(`${file}: ${error}`));
  });
  void held.ended.then(() => {
    for (const { reject } of open.values()) reject(new Error(`${file} ended`));
  });
  let last = 0;
  return {
    pid: held.pid,
    ask: <Result>(name: string, argument: unknown = null) => {
      const asked = Promise.withResolvers<unknown>();
      last += 1;
      open.set(last, asked);
      held.child.send({ id: last, name, argument } satisfies Question);
      return asked.promise as Promise<Result>;
    },
    [Symbol.asyncDispose]: async () => {
      await held.stop(0);
    },
  };
}

/** In the process itself: what it does when it is asked. */
export function answer(handlers: Readonly<Record<string, (argument: never) => unknown>>): void {
  process.on('message', async (message) => {
    const { id, name, argument } = message as Question;
    let reply: Reply;
    try {
      const handler = handlers[name];
      if (!handler) throw new Error(`nobody answers ${name}`);
      reply = { id, result: await handler(argument as never) };
    } catch (error) {
      reply = { id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
    }
    process.send?.(reply);
  });
}

/** The port of a server that listens, or will. */
export async function portOf(server: Server): Promise<number> {
  if (!server.listening) await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
