import { type Logger, pino } from 'pino';

export type { Logger };

/** What must never be readable in a log, wherever it turns up in an object that is logged. */
const SECRET_PATHS = [
  ...[
    'auth',
    'authorization',
    'clientSecret',
    'headers',
    'password',
    'privateKey',
    'sealed',
    'secret',
    'token',
  ],
  ...['body', 'data', 'response'],
].flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);

/** JSON lines on stdout. No payload and no secret is logged. */
export function createLogger(service: string, level: string): Logger {
  return pino({
    level,
    base: { service },
    redact: { paths: SECRET_PATHS, censor: '[redacted]' },
    timestamp: pino.stdTimeFunctions.isoTime,
  });
}
