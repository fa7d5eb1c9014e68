import { type Context, type Span, SpanStatusCode, trace } from '@opentelemetry/api';

/** Makes Waybill's own spans. Without an SDK they cost next to nothing and pass their parent's context on. */
export const tracer = trace.getTracer('waybill');

/** Runs something as a span: it ends when that does, and says so if that fails. */
export async function inSpan<T>(span: Span, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    fail(span, error);
    throw error;
  } finally {
    span.end();
  }
}

/** Marks a span as failed. The message of an error of ours holds no payload. */
export function fail(span: Span, error: unknown): void {
  const [type, message] = error instanceof Error ? [error.name, error.message] : ['_OTHER', String(error)];
  span.setAttribute('error.type', type);
  span.setStatus({ code: SpanStatusCode.ERROR, message });
}

/** The context in which what belongs to a span is done. */
export function within(span: Span, context: Context): Context {
  return trace.setSpan(context, span);
}
