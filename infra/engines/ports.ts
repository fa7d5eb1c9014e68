import { createServer } from 'node:net';

/** Below the range from which kernels take ports for outgoing connections, so that no connection takes one first. */
const LOWEST_PORT = 20_000;
const HIGHEST_PORT = 32_000;
const ATTEMPTS = 200;

const given = new Set<number>();

/**
 * A TCP port on 127.0.0.1 that nobody listens on and that this process has not been given before.
 * Another process may still take it before it is used: who listens on it must be ready to ask for another.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const port = LOWEST_PORT + Math.floor(Math.random() * (HIGHEST_PORT - LOWEST_PORT));
    if (given.has(port) || !(await canListen(port))) continue;
    given.add(port);
    return port;
  }
  throw new Error(`no free port between ${LOWEST_PORT} and ${HIGHEST_PORT}`);
}

/** Thrown by a program whose port was taken between choosing it and listening on it. */
export class PortTakenError extends Error {
  override readonly name = 'PortTakenError';
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
