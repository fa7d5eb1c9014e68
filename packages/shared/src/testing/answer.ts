/** What a scripted receiver can do with a request, from the polite to the hostile. */

import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

export type Answer =
  /** A well-formed response on a connection that stays open. `content-length` is added where a body may be. */
  | { status: number; headers?: Record<string, string>; body?: string | Buffer; delayMs?: number }
  /** Exactly these bytes; then the connection stays open, is closed (FIN) or reset (RST). */
  | { raw: string | Buffer; ending?: 'keep' | 'close' | 'reset'; delayMs?: number }
  /** These bytes one at a time, for as long as the connection lives. */
  | { drip: string | Buffer; everyMs: number }
  /** These bytes, then filler as fast as the peer takes it, for as long as the connection lives. */
  | { endless: string }
  /** Nothing at all, and the connection stays open. */
  | 'never'
  /** No response, only a FIN. */
  | 'close'
  /** No response, only an RST. */
  | 'reset';

const FILLER = Buffer.alloc(64 * 1024, 'x');

function mayHaveBody(status: number): boolean {
  return status >= 200 && status !== 204 && status !== 304;
}

function renderResponse(answer: Extract<Answer, { status: number }>): Buffer {
  const body = Buffer.from(answer.body ?? '');
  const headers = { ...answer.headers };
  if (mayHaveBody(answer.status)) headers['content-length'] ??= String(body.length);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? 'Unknown'}\r\n${lines.join('')}\r\n`;
  return Buffer.concat([Buffer.from(head, 'latin1'), body]);
}

async function drip(socket: Socket, bytes: Buffer, everyMs: number): Promise<void> {
  for (const byte of bytes) {
    await delay(everyMs);
    if (socket.destroyed) return;
    socket.write(Buffer.of(byte));
  }
}

async function pour(socket: Socket, head: string): Promise<void> {
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.write(head);
  while (!socket.destroyed) {
    if (!socket.write(FILLER))
      await Promise.race([closed, new Promise((resolve) => socket.once('drain', resolve))]);
  }
}

/**
 * Plays an answer on a connection. Settles when its last byte is handed over or the connection is gone.
 *
 * @param socket where the bytes go
 * @param tcp the TCP socket under it, the same one without TLS: only there can an RST be asked for
 */
export async function play(answer: Answer, socket: Socket, tcp: Socket): Promise<void> {
  if (answer === 'never') return;
  if (answer === 'reset') {
    tcp.resetAndDestroy();
    return;
  }
  if (answer === 'close') {
    socket.end();
    return;
  }
  if ('drip' in answer) return drip(socket, Buffer.from(answer.drip), answer.everyMs);
  if ('endless' in answer) return pour(socket, answer.endless);

  if (answer.delayMs !== undefined) await delay(answer.delayMs);
  if (socket.destroyed) return;
  if ('status' in answer) {
    socket.write(renderResponse(answer));
    return;
  }
  const written = new Promise<void>((resolve) => socket.write(answer.raw, () => resolve()));
  if (answer.ending === 'close') socket.end();
  if (answer.ending === 'reset') {
    // An RST overtakes bytes that are still in this process: let the kernel have them first.
    await written;
    tcp.resetAndDestroy();
  }
}
