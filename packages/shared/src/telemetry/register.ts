/**
 * Preloaded by `node --import`, before anything else: kafkajs, mongodb and express are patched only if the SDK
 * starts before they load. Does nothing unless OTEL_EXPORTER_OTLP_ENDPOINT says where traces go. Everything else
 * about the exporter comes from the standard OTEL_* variables, which the SDK reads itself.
 */
if (process.env.OTEL_EXPORTER_OTLP_ENDPOINT) {
  const { register } = await import('node:module');
  register('@opentelemetry/instrumentation/hook.mjs', import.meta.url);
  const { startTracing } = await import('./tracing.ts');
  startTracing();
}
