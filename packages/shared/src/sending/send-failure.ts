import { errors } from 'undici';
import type { FailureReason } from '../domain/outcome.ts';

/** Why a send ended without a complete response. The message is for people and safe to record. */
export class SendFailure extends Error {
  readonly reason: FailureReason;

  constructor(reason: FailureReason, detail: string) {
    super(detail);
    this.name = 'SendFailure';
    this.reason = reason;
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}

/** When several addresses were tried, the error of each; else the one error. */
function causesOf(error: unknown): readonly unknown[] {
  return error instanceof AggregateError ? error.errors : [error];
}

/**
 * Names an error that came before the connection could be used.
 *
 * @param tcpConnected whether TCP was up, so that only the TLS handshake can have failed
 */
export function connectFailure(error: unknown, tcpConnected: boolean): SendFailure {
  if (error instanceof SendFailure) return error;
  const codes = causesOf(error).map(codeOf);
  if (tcpConnected) return new SendFailure('tls', `TLS handshake failed: ${codes.join(', ')}`);
  const reason = codes.includes('ECONNREFUSED')
    ? 'connect_refused'
    : codes.includes('ETIMEDOUT')
      ? 'connect_timeout'
      : 'connect_failed';
  return new SendFailure(reason, `TCP connection failed: ${codes.join(', ')}`);
}

/** What was received of the response before it failed. */
interface Progress {
  /** The final status once the head was complete, else null. */
  readonly statusCode: number | null;
  /** Bytes of any kind that came after the request was written. */
  readonly bytesReceived: number;
}

/** Names an error of undici or of the connection that came once there was one. */
export function exchangeFailure(error: unknown, { statusCode, bytesReceived }: Progress): SendFailure {
  if (error instanceof SendFailure) return error;
  const code = codeOf(error);
  if (code === 'UND_ERR_INVALID_ARG' || code === 'UND_ERR_NOT_SUPPORTED') {
    return new SendFailure('request_invalid', error instanceof Error ? error.message : code);
  }
  if (code === 'UND_ERR_HEADERS_OVERFLOW') {
    return new SendFailure('headers_too_large', 'the response head is larger than the limit');
  }
  // With TLS 1.3 a server may refuse the client's certificate after the request was written.
  if (code.startsWith('ERR_SSL_')) return new SendFailure('tls', `connection ended by TLS: ${code}`);
  const malformed = error instanceof errors.HTTPParserError;
  if (malformed && statusCode === null) return new SendFailure('not_http', error.message);
  // undici's own code says less than what it stands for: the peer closed in good order (FIN).
  const what = malformed ? error.message : code === 'UND_ERR_SOCKET' ? 'connection closed by the peer' : code;
  return bytesReceived === 0
    ? new SendFailure('reset', `${what} before the first byte of a response`)
    : new SendFailure('truncated', `${what} before the response was complete`);
}
