/** Reads HTTP/1.1 requests off a byte stream, keeping what was received exactly as it came. */

export interface RawRequest {
  readonly method: string;
  /** The request target as sent: path and query. */
  readonly path: string;
  /** Name and value as sent, in order, repeated ones included. */
  readonly rawHeaders: readonly (readonly [name: string, value: string])[];
  /** Names in lower case; the last one wins when a name is repeated. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The body's bytes, chunk framing removed. */
  readonly body: Buffer;
}

const HEAD_END = Buffer.from('\r\n\r\n');
const LINE_END = Buffer.from('\r\n');

interface Body {
  readonly bytes: Buffer;
  /** Where the next request begins. */
  readonly end: number;
}

/** Null while the chunked body that begins at `start` is incomplete. Trailers are not supported. */
function readChunked(buffer: Buffer, start: number): Body | null {
  const chunks: Buffer[] = [];
  for (let at = start; ; ) {
    const lineEnd = buffer.indexOf(LINE_END, at);
    if (lineEnd === -1) return null;
    const size = Number.parseInt(buffer.toString('latin1', at, lineEnd), 16);
    if (Number.isNaN(size)) throw new Error('receiver: malformed chunk size');
    const data = lineEnd + LINE_END.length;
    const end = data + size + LINE_END.length;
    if (buffer.length < end) return null;
    if (size === 0) return { bytes: Buffer.concat(chunks), end };
    chunks.push(buffer.subarray(data, data + size));
    at = end;
  }
}

function readSized(buffer: Buffer, start: number, size: number): Body | null {
  const end = start + size;
  return buffer.length < end ? null : { bytes: Buffer.from(buffer.subarray(start, end)), end };
}

/** The requests of one connection. A malformed one throws: a test's client is not supposed to send it. */
export class RequestReader {
  #buffer: Buffer = Buffer.alloc(0);

  push(chunk: Buffer): void {
    this.#buffer = this.#buffer.length === 0 ? chunk : Buffer.concat([this.#buffer, chunk]);
  }

  /** The next complete request, or null until more bytes are pushed. */
  next(): RawRequest | null {
    const headEnd = this.#buffer.indexOf(HEAD_END);
    if (headEnd === -1) return null;
    const [requestLine = '', ...lines] = this.#buffer.toString('latin1', 0, headEnd).split('\r\n');
    const rawHeaders = lines.map((line) => {
      const colon = line.indexOf(':');
      if (colon < 1) throw new Error('receiver: malformed header line');
      return [line.slice(0, colon), line.slice(colon + 1).trim()] as const;
    });
    const headers = Object.fromEntries(rawHeaders.map(([name, value]) => [name.toLowerCase(), value]));
    const start = headEnd + HEAD_END.length;
    const body =
      headers['transfer-encoding'] === 'chunked'
        ? readChunked(this.#buffer, start)
        : readSized(this.#buffer, start, Number(headers['content-length'] ?? 0));
    if (body === null) return null;
    this.#buffer = this.#buffer.subarray(body.end);
    const [method = '', path = ''] = requestLine.split(' ');
    return { method, path, rawHeaders, headers, body: body.bytes };
  }
}
