import { describe, expect, it } from 'vitest';
import { adviceFor } from './advice.ts';

describe('advice on a timeout', () => {
  it('says of a request that left that it may have arrived', () => {
    expect(adviceFor('unknown', 'timeout')).toContain('the request may have arrived');
  });

  it('says of one that never had a connection that nothing was sent', () => {
    expect(adviceFor('not_sent', 'timeout')).toMatch(/^Nothing was sent/);
  });
});
