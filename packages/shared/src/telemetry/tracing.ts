import { ExportResultCode } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { ExpressInstrumentation, ExpressLayerType } from '@opentelemetry/instrumentation-express';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { MongoDBInstrumentation } from '@opentelemetry/instrumentation-mongodb';
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { BatchSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace';
import { onFlush } from './flush.ts';
import { keepFailures } from './keep-failures.ts';
import { spanExports } from './metrics.ts';
import { samplerOf } from './sampling.ts';

/** Asked all the time by machines, and the same each time. */
const UNTRACED_PATHS = ['/healthz', '/readyz', '/metrics'];
/** Marks a request to a subscriber: its span is the attempt's own, which knows more. */
const ATTEMPT_HEADER = 'waybill-attempt';
/** Spans that wait for a collector; what comes beyond them is dropped. Some 20 MB at most. */
const MAX_QUEUED_SPANS = 20_000;
/** A collector that hangs must not have all connections wait for it, in milliseconds. */
const EXPORT_TIMEOUT_MS = 5_000;
const EXPORT_EVERY_MS = 1_000;

/**
 * Starts the SDK. What is left at the end is sent by `flushTelemetry`.
 *
 * Kafka's spans are made in `kafka/`, not by an instrumentation: that gives a handler of batches one context for all its
 * messages and cuts every story in two, while here each message keeps its own. MongoDB's spans are one per command, and
 * commands are per batch; their text is left out, for it holds the data and takes longer to write than the command.
 *
 * A query may hold what nobody but its receiver may know, and of what is called the path as well: many webhooks have their
 * token there. Neither is told.
 */
export function startTracing(): void {
  const exporter = countExports(new OTLPTraceExporter({ timeoutMillis: EXPORT_TIMEOUT_MS }));
  const batches = new BatchSpanProcessor({
    exporter,
    maxQueueSize: numberFrom('OTEL_BSP_MAX_QUEUE_SIZE', MAX_QUEUED_SPANS),
    maxExportBatchSize: numberFrom('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 512),
    scheduledDelayMillis: numberFrom('OTEL_BSP_SCHEDULE_DELAY', EXPORT_EVERY_MS),
    exportTimeoutMillis: numberFrom('OTEL_BSP_EXPORT_TIMEOUT', EXPORT_TIMEOUT_MS),
  });
  const sdk = new NodeSDK({
    spanProcessors: [keepFailures(batches)],
    sampler: samplerOf(process.env),
    // Logs go to stdout and metrics to `/metrics`.
    logRecordProcessors: [],
    metricReaders: [],
    instrumentations: [
      new HttpInstrumentation({
        ignoreIncomingRequestHook: ({ url }) => UNTRACED_PATHS.includes(url?.split('?')[0] ?? ''),
        requireParentforOutgoingSpans: true,
        startIncomingSpanHook: () => ({ 'url.query': undefined }),
        startOutgoingSpanHook: () => ({ 'url.full': undefined }),
      }),
      // Names the route; a span for every layer of a router tells nobody anything.
      new ExpressInstrumentation({
        ignoreLayersType: [
          ExpressLayerType.MIDDLEWARE,
          ExpressLayerType.ROUTER,
          ExpressLayerType.REQUEST_HANDLER,
        ],
      }),
      new MongoDBInstrumentation({ requireParentSpan: true, dbStatementSerializer: () => '' }),
      new UndiciInstrumentation({
        requireParentforSpans: true,
        startSpanHook: ({ origin }) => ({
          'url.full': origin,
          'url.path': undefined,
          'url.query': undefined,
        }),
        ignoreRequestHook: ({ headers }) => [headers].flat().some((name) => name.includes(ATTEMPT_HEADER)),
      }),
    ],
  });
  sdk.start();
  onFlush(() => sdk.shutdown());
}

/** A collector that is away is seen in the metrics, and nowhere else. */
function countExports(exporter: SpanExporter): SpanExporter {
  const inner = exporter.export.bind(exporter);
  exporter.export = (spans, done) =>
    inner(spans, (result) => {
      spanExports.inc({ result: result.code === ExportResultCode.SUCCESS ? 'ok' : 'failed' });
      done(result);
    });
  return exporter;
}

function numberFrom(name: string, otherwise: number): number {
  const given = Number(process.env[name]);
  return Number.isInteger(given) && given > 0 ? given : otherwise;
}
