import type { Socket } from 'node:net';
import { type buildConnector, Client } from 'undici';
import type { Channel, Exchange } from './exchange.ts';
import { InterimResponses, MAX_HEAD_BYTES } from './interim-responses.ts';

/** One keep-alive connection, opened when first needed and again after it closed; one exchange at a time. */
class Connection implements Channel {
  readonly #client: Client;
  #exchange: Exchange | null = null;
  /** The peer's address while connected. A socket forgets it when it closes, so it is kept here. */
  remoteAddress: string | null = null;
  #interim: InterimResponses | null = null;

  constructor(origin: string, connect: buildConnector.connector, onClose: (connection: Connection) => void) {
    this.#client = new Client(origin, {
      connect: (target, callback) =>
        connect(target, (...result) => {
          if (result[0] === null) this.#use(result[1]);
          callback(...result);
        }),
      maxHeaderSize: MAX_HEAD_BYTES,
      // The exchange has one absolute deadline; timers that each byte sets back would add nothing.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    this.#client.on('disconnect', () => {
      this.remoteAddress = null;
      onClose(this);
    });
  }

  #use(socket: Socket): void {
    this.remoteAddress = socket.remoteAddress ?? null;
    this.#interim = new InterimResponses(socket, () => this.#exchange?.switchProtocols());
  }

  get open(): boolean {
    return this.remoteAddress !== null;
  }

  get bytesReceived(): number {
    return this.#interim?.bytesReceived ?? 0;
  }

  expectResponse(): void {
    this.#interim?.expectResponse();
  }

  run(exchange: Exchange, onDone: (connection: Connection) => void): void {
    this.#exchange = exchange;
    exchange.channel = this;
    exchange.onDone = () => {
      this.#exchange = null;
      // Not from inside undici's callback: it is not done with the old request while it tells.
      queueMicrotask(() => onDone(this));
    };
    const { path, headers, body } = exchange;
    this.#client.dispatch({ method: 'POST', path, headers, body }, exchange);
  }

  async destroy(): Promise<void> {
    await this.#client.destroy();
  }
}

/**
 * The keep-alive connections to one origin. Exchanges beyond the limit wait, first come, first served.
 *
 * It is not undici's own pool because an exchange must know the connection it runs on: for the audit (peer address) and
 * to take interim responses out.
 */
export class ConnectionPool {
  readonly #origin: string;
  readonly #connect: buildConnector.connector;
  readonly #limit: number;
  readonly #onEmpty: () => void;
  readonly #all = new Set<Connection>();
  /** The one used last is taken first, so that the others age and close when load falls. */
  readonly #idle: Connection[] = [];
  readonly #waiting = new Set<Exchange>();

  /** @param onEmpty called whenever the last connection is gone and nothing waits */
  constructor(origin: string, connect: buildConnector.connector, limit: number, onEmpty: () => void) {
    this.#origin = origin;
    this.#connect = connect;
    this.#limit = limit;
    this.#onEmpty = onEmpty;
  }

  /** Runs the exchange now, or when a connection is free. */
  run(exchange: Exchange): void {
    const connection = this.#idle.pop() ?? this.#add();
    if (connection === null) this.#waiting.add(exchange);
    else connection.run(exchange, this.#release);
  }

  /** Takes back an exchange that waits for a connection; without effect on one that has one. */
  forget(exchange: Exchange): void {
    this.#waiting.delete(exchange);
  }

  async destroy(): Promise<void> {
    await Promise.all([...this.#all].map((connection) => connection.destroy()));
  }

  #add(): Connection | null {
    if (this.#all.size >= this.#limit) return null;
    const connection = new Connection(this.#origin, this.#connect, (closed) => {
      // One that carries an exchange, or has just done so, is looked at when it is released.
      if (this.#idle.includes(closed)) this.#remove(closed);
    });
    this.#all.add(connection);
    return connection;
  }

  readonly #release = (connection: Connection): void => {
    const [next] = this.#waiting;
    if (next !== undefined) {
      this.#waiting.delete(next);
      connection.run(next, this.#release);
    } else if (connection.open) {
      this.#idle.push(connection);
    } else {
      this.#remove(connection);
    }
  };

  #remove(connection: Connection): void {
    this.#all.delete(connection);
    const at = this.#idle.indexOf(connection);
    if (at !== -1) this.#idle.splice(at, 1);
    void connection.destroy();
    if (this.#all.size === 0 && this.#waiting.size === 0) this.#onEmpty();
  }
}
