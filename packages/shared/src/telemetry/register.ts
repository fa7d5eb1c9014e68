/**
 * Preloaded by `node --import`, before anything else: mongodb and express are patched only if the SDK starts before they
 * load. Does nothing unless OTEL_EXPORTER_OTLP_ENDPOINT says where traces go. Everything else about the exporter comes
 * from the standard OTEL_* variables, which the SDK reads itself.
 */
if (process.env.OTEL_EXPORTER_OTLP_ENDPOINT) {
  const { register, supportsSyncHooks } = await import('import-in-the-middle/register-hooks.mjs');
  // In this thread: hooks in a second one make each start wait for it, and hold some 70 MB for ever. Only what is patched
  // is looked at. A Node that cannot do that yet (24 before 24.11.1) has the second thread.
  if (supportsSyncHooks())
    register({ include: ['express', 'http', 'https', 'mongodb', 'node:http', 'node:https'] });
  else (await import('node:module')).register('import-in-the-middle/hook.mjs', import.meta.url);
  const { startTracing } = await import('./tracing.ts');
  startTracing();
}
