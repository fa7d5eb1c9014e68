import { type Span, SpanKind } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { contextFrom, type Headers } from '../telemetry/propagation.ts';

/** How a subscriber that keeps traces of its own goes on with those of Waybill. */
export interface SubscriberTracer {
  /** The span of a request that came in, to be ended when it is answered. */
  receive(headers: Headers): Span;
  /** Sends what is left. */
  close(): Promise<void>;
}

/**
 * Traces of a subscriber, under a service name of its own.
 *
 * @param endpoint of a collector, OTLP over HTTP.
 */
export function startSubscriberTracer(endpoint: string, service: string): SubscriberTracer {
  const exporter = new OTLPTraceExporter({ url: new URL('/v1/traces', endpoint).href });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': service }),
    spanProcessors: [new BatchSpanProcessor({ exporter, scheduledDelayMillis: 200 })],
  });
  const tracer = provider.getTracer('subscriber');
  return {
    receive: (headers) => {
      const attributes = { 'http.request.method': 'POST' };
      return tracer.startSpan('POST', { kind: SpanKind.SERVER, attributes }, contextFrom(headers));
    },
    close: () => provider.shutdown(),
  };
}
