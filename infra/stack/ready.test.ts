import { expect, test } from 'vitest';
import { jaegerAddress } from './ready.ts';

test('Jaeger is where the environment says, else on the host that takes traces, else nowhere', () => {
  expect(jaegerAddress({ WAYBILL_JAEGER_URL: 'https://traces.example' })).toBe('https://traces.example');
  expect(jaegerAddress({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' })).toBe(
    'http://127.0.0.1:16686',
  );
  expect(jaegerAddress({ OTEL_EXPORTER_OTLP_ENDPOINT: '' })).toBeNull();
  expect(jaegerAddress({})).toBeNull();
});
