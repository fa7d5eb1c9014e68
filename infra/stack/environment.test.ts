import { ConfigurationError } from '@waybill/shared/config/environment';
import { expect, test } from 'vitest';
import { checkEnvironment } from './environment.ts';

function faultsOf(env: NodeJS.ProcessEnv): readonly string[] {
  try {
    checkEnvironment(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError) return error.faults;
    throw error;
  }
}

test('what is unset or empty is no fault: the stack provides it', () => {
  expect(faultsOf({ LEASE_MS: '', HTTP_PORT: 'any: the stack chooses', PATH: '/bin' })).toEqual([]);
});

test('every fault is found at once and said once, though three services read the variable', () => {
  const faults = faultsOf({
    LEASE_MS: '5',
    LOG_LEVEL: 'loud',
    DISPATCH_TICK_CRON: 'often',
    WAYBILL_ENGINES: 'podman',
    KAFKA_BROKERS: 'broker',
    MONGODB_URI: 'database',
  });
  expect(faults.map((fault) => fault.split(' ')[0]).sort()).toEqual([
    'DISPATCH_TICK_CRON',
    'KAFKA_BROKERS',
    'KAFKA_BROKERS',
    'LEASE_MS',
    'LOG_LEVEL',
    'MONGODB_URI',
    'WAYBILL_ENGINES',
  ]);
  expect(faults).toContainEqual(expect.stringContaining('set SCHEMA_REGISTRY_URL too'));
});
