import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A port that leads to another one, until it is shut. */
export interface TcpProxy extends AsyncDisposable {
  readonly port: number;
  /** Closes the port and cuts every connection through it: whoever connects is refused. */
  shut(): Promise<void>;
  /** Opens the same port again. */
  open(): Promise<void>;
}

export async function startTcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    // A cut connection is what the proxy is for, not a fault.
    return socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  };
  const server: Server = createServer((near) => {
    const far = keep(connect(target.port, target.host));
    keep(near).pipe(far).pipe(near);
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  });
  const listen = (port: number) =>
    new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(port, '127.0.0.1', () => {
        server.off('error', reject);
        resolve();
      });
    });
  const shut = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return { port, shut, open: () => listen(port), [Symbol.asyncDispose]: shut };
}
