import { describe, expect, it } from 'vitest';
import { draftOf, fieldOf, termsOf } from './draft.ts';

const draft = { ...draftOf(null), id: 'clinic', url: 'https://clinic.example/hook' };

describe('the form of a subscriber', () => {
  it('begins with what the API would take by default', () => {
    const { terms } = termsOf(draft, null);
    expect(terms).toMatchObject({
      url: 'https://clinic.example/hook',
      filter: {},
      delivery: { timeoutMs: 15_000, maxAttempts: 12, ordering: 'none', headers: {} },
      auth: { type: 'none' },
      enabled: true,
    });
    expect(terms?.delivery).not.toHaveProperty('ratePerSecond');
  });

  it('says what is wrong by the rules of the API, at its field', () => {
    const { faults } = termsOf(
      {
        ...draft,
        id: 'no id',
        url: 'ftp://x',
        timeoutMs: '5',
        headers: '{"Authorization":"x"}',
        backoff: '{',
      },
      null,
    );
    expect(Object.keys(faults ?? {}).sort()).toEqual(['backoff', 'headers', 'id', 'timeoutMs', 'url']);
    expect(faults?.headers).toMatch('credential');
    expect(faults?.backoff).toBe('is not JSON');
  });

  it('reads statuses and attributes', () => {
    const attributes = '{"region":["north"]}';
    expect(termsOf({ ...draft, statuses: 'in_transit, delivered', attributes }, null).terms?.filter).toEqual({
      statuses: ['in_transit', 'delivered'],
      attributes: { region: ['north'] },
    });
  });

  it('asks for a credential that cannot be shown', () => {
    expect(termsOf({ ...draft, auth: '' }, null).faults?.auth).toMatch('put again');
  });

  it('finds the field of a path', () => {
    expect(fieldOf(['delivery', 'backoff', 'initialMs'])).toBe('backoff');
    expect(fieldOf(['filter', 'statuses', 0])).toBe('statuses');
    expect(fieldOf(['delivery', 'propagate'])).toBe('rest');
  });
});
