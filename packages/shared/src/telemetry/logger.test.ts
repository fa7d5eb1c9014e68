import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** What a process writes to stdout that runs this after the logger was made: lines go out by themselves. */
function linesOf(program: string): Record<string, unknown>[] {
  const source = `
    import { context, ROOT_CONTEXT, trace } from '@opentelemetry/api';
    import { createLogger } from ${JSON.stringify(at('./logger.ts'))};
    const logger = createLogger('test', 'info');
    ${program}`;
  const preload = at('./register.ts');
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', preload, '--input-type=module', '-e', source],
    {
      cwd: at('.'),
      encoding: 'utf8',
      // A collector that is not there: the SDK runs all the same.
      env: { ...process.env, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' },
    },
  );
  expect(stderr).toBe('');
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

test('a line names the trace of what is being done, and what it says of itself counts more', () => {
  const lines = linesOf(`
    logger.info('outside');
    const span = trace.getTracer('test').startSpan('work');
    context.with(trace.setSpan(ROOT_CONTEXT, span), () => {
      logger.info({ expected: span.spanContext() }, 'within');
      logger.info({ trace_id: 'other' }, 'own');
    });
    process.exit(0);`);
  // What is still to be written when a process ends may overtake what is being written.
  const [outside, within, own] = ['outside', 'within', 'own'].map((text) =>
    lines.find(({ msg }) => msg === text),
  );
  expect(outside).toMatchObject({ service: 'test' });
  expect(outside).not.toHaveProperty('trace_id');
  const { expected, ...line } = within ?? {};
  const { traceId, spanId } = expected as { traceId: string; spanId: string };
  expect(line).toMatchObject({ service: 'test', trace_id: traceId, span_id: spanId });
  expect(own).toMatchObject({ trace_id: 'other' });
});

test('secrets and payloads are not written, however deep they are', () => {
  const text = JSON.stringify(
    linesOf(`
      const deep = { token: 'secret-1', auth: { password: 'secret-2' }, request: { headers: { authorization: 'secret-3' } } };
      logger.info({ ...deep, data: { patient: 'secret-4' }, body: 'secret-5' }, 'line');
      process.exit(0);`),
  );
  expect(text).not.toContain('secret-');
  expect(text.match(/\[redacted\]/g)?.length).toBe(5);
});
