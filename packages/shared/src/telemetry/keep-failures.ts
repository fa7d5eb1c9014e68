import { SpanStatusCode } from '@opentelemetry/api';
import type { ReadableSpan, SpanProcessor } from '@opentelemetry/sdk-trace';
import { SAMPLED } from './sampling.ts';

/**
 * Hands on what was sampled, and of the rest what failed: whatever the sampling ratio, an attempt that was not accepted
 * and a request that ended in an error are found. Such a span stands alone in its trace.
 *
 * @param inner drops spans whose sampled flag is not set, as all exporting processors do.
 */
export function keepFailures(inner: SpanProcessor): SpanProcessor {
  return {
    onStart: (span, context) => inner.onStart(span, context),
    onEnd: (span) => {
      const sampled = (span.spanContext().traceFlags & SAMPLED) !== 0;
      if (sampled) inner.onEnd(span);
      else if (span.status.code === SpanStatusCode.ERROR) inner.onEnd(asSampled(span));
    },
    forceFlush: () => inner.forceFlush(),
    shutdown: () => inner.shutdown(),
  };
}

/** The same span, seen with the flag set. */
function asSampled(span: ReadableSpan): ReadableSpan {
  const spanContext = { ...span.spanContext(), traceFlags: SAMPLED };
  return Object.create(span, { spanContext: { value: () => spanContext } }) as ReadableSpan;
}
