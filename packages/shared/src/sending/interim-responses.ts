import type { Socket } from 'node:net';

/** How every interim response begins, up to the first digit of its status. */
const INTERIM = Buffer.from('HTTP/1.1 1');
const HEAD_END = Buffer.from('\r\n\r\n');
const SWITCHING_PROTOCOLS = 101;

/** The longest head of a response, interim or final, in bytes. */
export const MAX_HEAD_BYTES = 16 * 1024;

/**
 * Takes interim responses (1xx) out of what a connection receives, before undici's parser sees them.
 *
 * RFC 9110, 15.2 lets a server send any number of them, asked for or not, before the final response. undici destroys the
 * connection on an unsolicited 100 and on a 101, so that a request which was answered would look lost. Reading is the
 * one place where bytes can be taken out: undici 8 pulls them with `socket.read()`.
 */
export class InterimResponses {
  /** Bytes received since the request began to be written. */
  bytesReceived = 0;
  /** Whether the next byte belongs to the head of a response. */
  #expecting = false;
  #held: Buffer | null = null;
  readonly #onSwitchingProtocols: () => void;

  /** @param onSwitchingProtocols called on a 101, which nobody asked for and after which no HTTP follows */
  constructor(socket: Socket, onSwitchingProtocols: () => void) {
    this.#onSwitchingProtocols = onSwitchingProtocols;
    const read: () => Buffer | null = socket.read.bind(socket);
    socket.read = () => {
      for (let chunk = read(); chunk !== null; chunk = read()) {
        this.bytesReceived += chunk.length;
        const rest = this.#expecting ? this.#withoutInterim(chunk) : chunk;
        if (rest !== null) return rest;
      }
      return null;
    };
  }

  /** To be called before a request is written: what follows is the head of its response. */
  expectResponse(): void {
    this.bytesReceived = 0;
    this.#expecting = true;
    this.#held = null;
  }

  /** Null while all of it is interim, or too short to tell; those bytes are kept until it is clear. */
  #withoutInterim(chunk: Buffer): Buffer | null {
    let bytes = this.#held === null ? chunk : Buffer.concat([this.#held, chunk]);
    this.#held = null;
    while (INTERIM.subarray(0, bytes.length).equals(bytes.subarray(0, INTERIM.length))) {
      const end = bytes.indexOf(HEAD_END);
      if (end === -1) {
        // Too long: the parser has the same limit and refuses it.
        if (bytes.length > MAX_HEAD_BYTES) break;
        this.#held = bytes;
        return null;
      }
      const status = bytes.toString('latin1', INTERIM.length - 1, INTERIM.length + 2);
      if (Number(status) === SWITCHING_PROTOCOLS) {
        this.#onSwitchingProtocols();
        return null;
      }
      bytes = bytes.subarray(end + HEAD_END.length);
      if (bytes.length === 0) return null;
    }
    this.#expecting = false;
    return bytes;
  }
}
