import { isSpanContextValid, trace } from '@opentelemetry/api';
import { type Logger, pino } from 'pino';

export type { Logger };

/** What must never be readable in a log, wherever it turns up in an object that is logged. */
const SECRET_NAMES =
  'auth authorization body clientSecret data headers password privateKey response sealed secret token'.split(
    ' ',
  );
const SECRET_PATHS = SECRET_NAMES.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);

/**
 * JSON lines on stdout. No payload and no secret is logged. A line that is written while something with a story is
 * done names its trace, by the names OpenTelemetry gives for logs that are no OTLP.
 */
export function createLogger(service: string, level: string): Logger {
  return pino({
    level,
    base: { service },
    redact: { paths: SECRET_PATHS, censor: '[redacted]' },
    timestamp: pino.stdTimeFunctions.isoTime,
    mixin: activeTrace,
    // What a line says of itself counts: it may be about another trace than the active one.
    mixinMergeStrategy: (line, active) => ({ ...active, ...line }),
  });
}

/**
 * The same log for lines that are written in large numbers, without the search for secrets, which costs more than all the
 * rest of a line. Only for lines whose fields are named one by one where they are written.
 */
export function forNamedFields(logger: Logger): Logger {
  return logger.child({}, { redact: [] });
}

function activeTrace(): object {
  const active = trace.getActiveSpan()?.spanContext();
  if (!active || !isSpanContextValid(active)) return {};
  return { trace_id: active.traceId, span_id: active.spanId };
}
