import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { ExpressInstrumentation } from '@opentelemetry/instrumentation-express';
import { KafkaJsInstrumentation } from '@opentelemetry/instrumentation-kafkajs';
import { MongoDBInstrumentation } from '@opentelemetry/instrumentation-mongodb';
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { onFlush } from './flush.ts';

/** Starts the SDK. What is left at the end is sent by `flushTelemetry`. */
export function startTracing(): void {
  const sdk = new NodeSDK({
    traceExporter: new OTLPTraceExporter(),
    instrumentations: [
      new ExpressInstrumentation(),
      new KafkaJsInstrumentation(),
      new MongoDBInstrumentation(),
      new UndiciInstrumentation(),
    ],
  });
  sdk.start();
  onFlush(() => sdk.shutdown());
}
