import { expect, it } from 'vitest';
import { playUpstream } from './upstream.ts';

const SECRET = '0123456789abcdef';
const ENVIRONMENT = {
  WAYBILL_API_KEYS: `root:admin:${SECRET}`,
  WAYBILL_URL: 'http://127.0.0.1:1',
  DEMO_SUBSCRIBERS_URL: 'http://127.0.0.1:1',
};

const faultsOf = (change: Record<string, string>): Promise<string> =>
  playUpstream({ ...ENVIRONMENT, ...change }, AbortSignal.abort()).then(
    () => 'none',
    (error: Error) => error.message,
  );

it('says every fault of its environment at once', async () => {
  const faults = await faultsOf({ WAYBILL_URL: 'scheduler:8080', DEMO_SUBSCRIBERS_URL: '' });
  expect(faults).toMatch(/WAYBILL_URL Invalid URL\n.*DEMO_SUBSCRIBERS_URL is not set/);
});

it('needs a key that may make subscribers, and shows none that it was given', async () => {
  const faults = await faultsOf({ WAYBILL_API_KEYS: `desk:operator:${SECRET}` });
  expect(faults).toMatch(/WAYBILL_API_KEYS needs a key of role admin/);
  expect(faults).not.toContain(SECRET);
});
