import { describe, expect, it } from 'vitest';
import {
  ConfigurationError,
  commonEnvironment,
  digestOfSecret,
  parseEnvironment,
  sharedEnvironment,
} from './environment.ts';

const ENVIRONMENT = { ...commonEnvironment, ...sharedEnvironment };
const KEY = Buffer.alloc(32, 9).toString('base64');
const NEEDED = {
  KAFKA_BROKERS: 'kafka-1:9092, [::1]:9093',
  MONGODB_URI: 'mongodb://user:pass@mongo/?replicaSet=rs0',
  SCHEMA_REGISTRY_URL: 'http://registry:8080/apis/ccompat/v7',
  WAYBILL_API_KEYS: 'warehouse:ingest:0123456789abcdef,root:admin:with:colons:in:the:secret',
  WAYBILL_SECRET_KEYS: `k2:${KEY},k1:${KEY}`,
};

function faultsOf(change: Record<string, string>): string[] {
  try {
    parseEnvironment(ENVIRONMENT, { ...NEEDED, ...change });
    return [];
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return error.message
      .split('\n')
      .slice(1)
      .map((line) => line.replace(/^ {2}- /, ''));
  }
}

describe('the environment', () => {
  it('is read into what services use, the rest taking its default', () => {
    const read = parseEnvironment(ENVIRONMENT, { ...NEEDED, HOME: '/somewhere', HTTP_PORT: '0' });
    expect(read).toEqual({
      KAFKA_BROKERS: ['kafka-1:9092', '[::1]:9093'],
      MONGODB_URI: NEEDED.MONGODB_URI,
      SCHEMA_REGISTRY_URL: NEEDED.SCHEMA_REGISTRY_URL,
      KAFKA_SSL: 'false',
      OTEL_TRACES_SAMPLER: 'parentbased_always_on',
      OTEL_TRACES_SAMPLER_ARG: 1,
      HTTP_HOST: '0.0.0.0',
      HTTP_PORT: 0,
      LEASE_MS: 30_000,
      LOG_LEVEL: 'info',
      WAYBILL_API_KEYS: [
        { name: 'warehouse', role: 'ingest', digest: digestOfSecret('0123456789abcdef') },
        { name: 'root', role: 'admin', digest: digestOfSecret('with:colons:in:the:secret') },
      ],
      WAYBILL_SECRET_KEYS: [
        { kid: 'k2', key: Buffer.alloc(32, 9) },
        { kid: 'k1', key: Buffer.alloc(32, 9) },
      ],
      WAYBILL_EGRESS_ALLOW: { allowed: [] },
    });
  });

  it('counts an empty variable as unset', () => {
    expect(parseEnvironment(ENVIRONMENT, { ...NEEDED, HTTP_PORT: '', LOG_LEVEL: '' })).toMatchObject({
      HTTP_PORT: 8080,
      LOG_LEVEL: 'info',
    });
    expect(faultsOf({ MONGODB_URI: '' })).toEqual(['MONGODB_URI is not set']);
  });

  it('reports every fault at once', () => {
    const faults = faultsOf({
      KAFKA_BROKERS: 'kafka',
      MONGODB_URI: 'postgres://db',
      SCHEMA_REGISTRY_URL: '',
      HTTP_PORT: '65536',
      LEASE_MS: '1.5',
      LOG_LEVEL: 'loud',
      WAYBILL_API_KEYS: 'a:admin:short,:ingest:0123456789abcdef,b:root:0123456789abcdef',
      WAYBILL_SECRET_KEYS: `k1:c2hvcnQ=,${KEY}`,
      WAYBILL_EGRESS_ALLOW: '10.0.0.0/8,https://x.example,*.example',
    });
    expect(faults.map((fault) => fault.split(' ')[0])).toEqual([
      'KAFKA_BROKERS',
      'MONGODB_URI',
      'SCHEMA_REGISTRY_URL',
      'HTTP_PORT',
      'LEASE_MS',
      'LOG_LEVEL',
      'WAYBILL_API_KEYS',
      'WAYBILL_API_KEYS',
      'WAYBILL_API_KEYS',
      'WAYBILL_SECRET_KEYS',
      'WAYBILL_SECRET_KEYS',
      'WAYBILL_EGRESS_ALLOW',
      'WAYBILL_EGRESS_ALLOW',
    ]);
    expect(faults).toContain('SCHEMA_REGISTRY_URL is not set');
    expect(faults).toContain(
      'WAYBILL_EGRESS_ALLOW entry 2 must be a host, address or CIDR range, with an optional port',
    );
  });

  it.each(Object.keys(ENVIRONMENT))('never shows what %s holds', (name) => {
    const faults = faultsOf({ [name]: 'hunter2,https://hunter2@hunter2:1,hunter2:hunter2:hunter2' });
    expect(faults).not.toEqual([]);
    expect(faults.join('\n')).toContain(name);
    expect(faults.join('\n')).not.toContain('hunter2');
  });

  it.each([
    'kafka',
    'kafka:',
    ':9092',
    'kafka:0',
    'kafka:65536',
    'http://kafka:9092',
    'user@kafka:9092',
    ',',
  ])('has no broker in %j', (brokers) => {
    expect(faultsOf({ KAFKA_BROKERS: brokers })).toEqual([expect.stringMatching(/^KAFKA_BROKERS /)]);
  });

  it.each([
    ['a secret that can be guessed', 'a:admin:fifteen-letters', 'needs a secret of at least 16 characters'],
    ['no role', 'a::0123456789abcdef', 'has no role'],
    ['no name', ':admin:0123456789abcdef', 'has no name'],
    ['no key at all', ',', 'must hold at least one entry'],
    ['one name in two roles', 'a:admin:0123456789abcdef,a:ingest:fedcba9876543210', 'with another role'],
    ['one secret twice', 'a:admin:0123456789abcdef,b:ingest:0123456789abcdef', 'has a secret that'],
  ])('takes no API keys with %s', (_, keys, fault) => {
    expect(faultsOf({ WAYBILL_API_KEYS: keys })).toEqual([expect.stringContaining(fault)]);
  });

  it('holds no secret of an API key in clear, and two of one name while they are exchanged', () => {
    const secrets = ['0123456789abcdef', 'fedcba9876543210'];
    const keys = secrets.map((secret) => `upstream:ingest:${secret}`).join(',');
    const { WAYBILL_API_KEYS: read } = parseEnvironment(ENVIRONMENT, { ...NEEDED, WAYBILL_API_KEYS: keys });
    expect(read.map(({ name }) => name)).toEqual(['upstream', 'upstream']);
    for (const secret of secrets) expect(JSON.stringify(read)).not.toContain(secret);
  });

  it('names the broken one of several entries by its place', () => {
    expect(faultsOf({ WAYBILL_SECRET_KEYS: `k1:${KEY},k2:${KEY.slice(4)}` })).toEqual([
      'WAYBILL_SECRET_KEYS entry 2 must be kid:key, the key 32 bytes in base64',
    ]);
  });
});
