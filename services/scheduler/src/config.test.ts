import { ConfigurationError, parseEnvironment } from '@waybill/shared/config/environment';
import { describe, expect, it } from 'vitest';
import { schedulerEnvironment } from './config.ts';

const { DISPATCH_TICK_CRON, RETENTION_TICK_CRON, WAYBILL_JAEGER_URL } = schedulerEnvironment;
const OWN = { DISPATCH_TICK_CRON, RETENTION_TICK_CRON, WAYBILL_JAEGER_URL };

describe('what the scheduler reads', () => {
  it('ticks every second and sweeps every quarter of an hour unless told otherwise', () => {
    expect(parseEnvironment(OWN, {})).toEqual({
      DISPATCH_TICK_CRON: '* * * * * *',
      RETENTION_TICK_CRON: '0 */15 * * * *',
    });
  });

  it.each(['*/5 * * * * *', '0 0 3 * * MON-FRI', ' 0  30 2 1 * * '])(
    'takes %j as a cron pattern',
    (pattern) => {
      expect(parseEnvironment(OWN, { DISPATCH_TICK_CRON: pattern }).DISPATCH_TICK_CRON).toBe(pattern);
    },
  );

  it.each(['* * * * *', '* * * * * * *', '61 * * * * *', '* * 24 * * *', 'hourly', '@daily'])(
    'refuses %j and names the variable, not the value',
    (pattern) => {
      const parse = () => parseEnvironment(OWN, { RETENTION_TICK_CRON: pattern });
      expect(parse).toThrow(ConfigurationError);
      expect(parse).toThrow(/RETENTION_TICK_CRON must be a cron pattern of six fields/);
    },
  );
});
