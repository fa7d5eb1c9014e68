/**
 * Preloaded by `node --import`, before anything else: mongodb and express are patched only if the SDK starts before they
 * load. Does nothing unless OTEL_EXPORTER_OTLP_ENDPOINT says where traces go. Everything else about the exporter comes
 * from the standard OTEL_* variables, which the SDK reads itself.
 */
if (process.env.OTEL_EXPORTER_OTLP_ENDPOINT) {
  const { register } = await import('import-in-the-middle/register-hooks.mjs');
  // In this thread: the hooks that OpenTelemetry's own loader runs in a second one make each start wait for it, and hold
  // some 40 MB for ever. Only what is patched is looked at.
  register({ include: ['express', 'http', 'https', 'mongodb', 'node:http', 'node:https', 'undici'] });
  const { startTracing } = await import('./tracing.ts');
  startTracing();
}
