import { ROOT_CONTEXT, type SpanKind, SpanStatusCode } from '@opentelemetry/api';
import {
  BatchSpanProcessor,
  InMemorySpanExporter,
  type ReadableSpan,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { describe, expect, it } from 'vitest';
import { keepFailures } from './keep-failures.ts';
import { contextFrom } from './propagation.ts';
import { SAMPLED, samplerOf } from './sampling.ts';
import { SPAN } from './trace-names.ts';

const CLIENT: SpanKind = 2;
const traceparent = (flags: string) => `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-${flags}`;

/** What is exported of one attempt and of one other span, each of which succeeds or fails. */
async function exported(
  env: Record<string, string>,
  failed: boolean,
  parent = ROOT_CONTEXT,
): Promise<ReadableSpan[]> {
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({
    sampler: samplerOf(env),
    spanProcessors: [keepFailures(new BatchSpanProcessor({ exporter }))],
  });
  const tracer = provider.getTracer('test');
  for (const name of [SPAN.attempt, SPAN.settle]) {
    const span = tracer.startSpan(name, { kind: CLIENT, attributes: { 'delivery.id': 'dlv_1' } }, parent);
    if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end();
  }
  await provider.forceFlush();
  const spans = exporter.getFinishedSpans();
  await provider.shutdown();
  return spans;
}

const names = (spans: readonly ReadableSpan[]) => spans.map(({ name }) => name);

describe('sampling', () => {
  it('keeps everything unless told otherwise', async () => {
    expect(names(await exported({}, false))).toEqual([SPAN.attempt, SPAN.settle]);
  });

  it.each([
    [{ OTEL_TRACES_SAMPLER: 'always_off' }],
    [{ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' }],
    [{ OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' }],
  ])('of %j exports no attempt that was accepted, and each that was not', async (env) => {
    expect(names(await exported(env, false))).toEqual([]);
    const [kept, ...others] = await exported(env, true);
    expect(others).toEqual([]);
    expect(kept).toMatchObject({ name: SPAN.attempt, attributes: { 'delivery.id': 'dlv_1' }, ended: true });
    expect(kept?.spanContext().traceFlags).toBe(SAMPLED);
  });

  it('follows what the upstream system decided for its event', async () => {
    const env = { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' };
    const sampled = contextFrom({ traceparent: traceparent('01') });
    expect(names(await exported(env, false, sampled))).toEqual([SPAN.attempt, SPAN.settle]);
    const left = contextFrom({ traceparent: traceparent('00') });
    expect(names(await exported({}, false, left))).toEqual([]);
    expect(names(await exported({}, true, left))).toEqual([SPAN.attempt]);
  });
});
