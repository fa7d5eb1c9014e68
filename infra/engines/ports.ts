import { createServer } from 'node:net';

/** Below the range from which kernels take ports for outgoing connections, so that no connection takes one first. */
const LOWEST_PORT = 20_000;
const RANGE = 12_000;
/** Launchers that start side by side begin at different places and do not meet. */
const PORTS_PER_LAUNCHER = 40;

let next = (process.pid * PORTS_PER_LAUNCHER) % RANGE;

/**
 * A TCP port on 127.0.0.1 that nobody listens on and that this process was not given lately.
 * Another process may still take it before it is used: who listens on it must be ready to ask for another.
 */
export async function freePort(): Promise<number> {
  for (let tried = 0; tried < RANGE; tried += 1) {
    const port = LOWEST_PORT + next;
    next = (next + 1) % RANGE;
    if (await canListen(port)) return port;
  }
  throw new Error(`no free port from ${LOWEST_PORT} to ${LOWEST_PORT + RANGE - 1}`);
}

/** Thrown by a program whose port was taken between choosing it and listening on it. */
export class PortTakenError extends Error {
  override readonly name = 'PortTakenError';
}

/** Whether what a program wrote when it failed says that somebody else listens on its port. */
export function saysPortTaken(output: string): boolean {
  return /address already in use|BindException|EADDRINUSE|already bound/i.test(output);
}

const PORT_RACES = 4;

/** Runs `start` with free ports; with others when it throws PortTakenError, a bounded number of times. */
export async function withFreePorts<T>(count: number, start: (ports: number[]) => Promise<T>): Promise<T> {
  for (let race = 1; ; race += 1) {
    const ports: number[] = [];
    for (let index = 0; index < count; index += 1) ports.push(await freePort());
    try {
      return await start(ports);
    } catch (error) {
      if (!(error instanceof PortTakenError) || race >= PORT_RACES) throw error;
    }
  }
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
