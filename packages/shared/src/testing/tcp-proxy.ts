import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A port that leads to another one, until it is shut. */
export interface TcpProxy extends AsyncDisposable {
  readonly port: number;
  /** Closes the port and cuts every connection through it: whoever connects is refused. */
  shut(): Promise<void>;
  /** Opens the same port again. */
  open(): Promise<void>;
  /** Takes connections and bytes as before and passes nothing on: whoever asks waits, until it is shut. */
  stall(): void;
}

/** @param target `host:port` */
export async function startTcpProxy(target: string): Promise<TcpProxy> {
  const { hostname, port: targetPort } = new URL(`tcp://${target}`);
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    // A connection that is cut is what the proxy is for, not a fault.
    return socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  };
  let stalled = false;
  const server = createServer((near) => {
    keep(near);
    if (stalled) return;
    const far = keep(connect(Number(targetPort), hostname));
    near.pipe(far).pipe(near);
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  });
  const listen = async (port: number): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.once('error', reject).listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      resolve();
    });
    await promise;
  };
  const stall = (): void => {
    stalled = true;
    for (const socket of sockets) socket.unpipe().resume();
  };
  const shut = async (): Promise<void> => {
    stalled = false;
    const { promise, resolve } = Promise.withResolvers<void>();
    server.close(() => resolve());
    for (const socket of sockets) socket.destroy();
    await promise;
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return { port, shut, open: () => listen(port), stall, [Symbol.asyncDispose]: shut };
}
