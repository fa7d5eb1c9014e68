import { ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { describe, expect, test } from 'vitest';
import {
  contextFrom,
  continuationOf,
  headersOf,
  named,
  SAME_TRACE_FOR_MS,
  spanContextOf,
} from './propagation.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const traceparent = `00-${TRACE}-00f067aa0ba902b7-01`;

describe('headers', () => {
  test('carry trace, vendor state and baggage on as they came', () => {
    const headers = { traceparent, tracestate: 'vendor=1', baggage: 'tenant=north' };
    expect(headersOf(contextFrom(headers))).toEqual(headers);
  });

  test('as Kafka gives them: bytes, and of a repeated one the last', () => {
    const context = contextFrom({ traceparent: [Buffer.from('nonsense'), Buffer.from(traceparent)] });
    expect(spanContextOf(context)?.traceId).toBe(TRACE);
  });

  test.each([
    [{}],
    [{ traceparent: 'nonsense' }],
    [{ traceparent: `00-${'0'.repeat(32)}-00f067aa0ba902b7-01` }],
    [undefined],
  ])('that name no trace: %j', (headers) => {
    expect(spanContextOf(contextFrom(headers))).toBeNull();
    expect(headersOf(contextFrom(headers))).toBeNull();
  });

  test('baggage alone is no story', () => {
    expect(headersOf(contextFrom({ baggage: 'tenant=north' }))).toBeNull();
  });
});

test('what has no name gets one that is not sampled, what has one keeps it', () => {
  const first = spanContextOf(named(ROOT_CONTEXT));
  expect(first).toMatchObject({ traceId: expect.stringMatching(/^[0-9a-f]{32}$/), traceFlags: 0 });
  expect(spanContextOf(named(ROOT_CONTEXT))?.traceId).not.toBe(first?.traceId);
  expect(spanContextOf(named(contextFrom({ traceparent })))?.traceId).toBe(TRACE);
});

describe('a delivery goes on', () => {
  const since = new Date('2026-05-04T03:00:00Z');
  const after = (ms: number) => new Date(since.getTime() + ms);
  const kept = { traceparent, baggage: 'tenant=north' };

  test('in the trace of its event while that is young', () => {
    const { parent, links } = continuationOf(kept, since, after(SAME_TRACE_FOR_MS - 1));
    expect(spanContextOf(parent)).toMatchObject({ traceId: TRACE, spanId: '00f067aa0ba902b7' });
    expect(links).toEqual([]);
  });

  test('in one of its own with a link to it afterwards', () => {
    const { parent, links } = continuationOf(kept, since, after(SAME_TRACE_FOR_MS));
    expect(trace.getSpan(parent)).toBeUndefined();
    expect(links).toEqual([
      { context: expect.objectContaining({ traceId: TRACE, spanId: '00f067aa0ba902b7' }) },
    ]);
  });

  test('from nothing, if nothing is known', () => {
    expect(continuationOf(null, since, after(0))).toEqual({ parent: ROOT_CONTEXT, links: [] });
  });
});
