import { describe, expect, it } from 'vitest';
import { subscriberId, subscriberInput } from './subscriber.ts';

const URL = 'https://clinic.example/hook';

function faultPaths(input: unknown): string[] {
  const { error } = subscriberInput.safeParse(input);
  return (error?.issues ?? []).map(({ path }) => path.join('/')).sort();
}

describe('a subscriber', () => {
  it('needs only a URL and gets the defaults of the field', () => {
    expect(subscriberInput.parse({ url: URL })).toEqual({
      url: URL,
      filter: {},
      delivery: {
        timeoutMs: 15_000,
        connectTimeoutMs: 5_000,
        payload: 'full',
        headers: {},
        keepResponse: 'off',
        maxAttempts: 12,
        maxElapsedMs: 72 * 3_600_000,
        concurrency: 32,
        ordering: 'none',
        onDead: 'pass',
        sequence: false,
        conflictMeans: 'retry',
        propagate: [],
      },
      auth: { type: 'none' },
      enabled: true,
    });
  });

  it('takes the defaults it leaves out of a part', () => {
    const { delivery } = subscriberInput.parse({ url: URL, delivery: { backoff: { initialMs: 100 } } });
    expect(delivery).toMatchObject({
      timeoutMs: 15_000,
      backoff: { initialMs: 100, maxMs: 36_000_000, jitter: 0.2 },
    });
  });

  it('is told all its faults at once', () => {
    const faulty = {
      url: 'ftp://clinic.example',
      filter: { attributes: JSON.parse('{"region":"eu","__proto__":["x"]}') },
      delivery: { timeoutMs: 999, maxAttempts: 0, concurrency: 501, backoff: { initialMs: 1, jitter: 2 } },
      auth: { type: 'magic' },
      enabled: 'yes',
    };
    expect(faultPaths(faulty)).toEqual([
      'auth/type',
      'delivery/backoff/initialMs',
      'delivery/backoff/jitter',
      'delivery/concurrency',
      'delivery/maxAttempts',
      'delivery/timeoutMs',
      'enabled',
      'filter/attributes/__proto__',
      'url',
    ]);
  });

  it.each([
    '\t https://clinic.example/',
    'https://clinic.example/\u00a0',
    'https://clinic.example/\r\n',
    ' ',
  ])('is called exactly where its URL says, so %j is refused and not trimmed', (url) => {
    expect(faultPaths({ url })).toEqual(['url']);
  });

  it.each([
    ['at the top', { url: URL, urls: [] }, ''],
    ['in the filter', { url: URL, filter: { status: 'x' } }, 'filter'],
    ['in the policy', { url: URL, delivery: { timeout: 1 } }, 'delivery'],
  ])('is told of a field that nobody knows %s', (_, input, path) => {
    expect(faultPaths(input)).toEqual([path]);
  });

  it.each(['a', 'clinic_A-1', 'x'.repeat(64)])('may be called %s', (id) => {
    expect(subscriberId.safeParse(id).success).toBe(true);
  });

  it.each(['', '-a', 'a.b', 'a/b', 'a b', 'ä', 'x'.repeat(65), '$a'])('may not be called %j', (id) => {
    expect(subscriberId.safeParse(id).success).toBe(false);
  });
});
