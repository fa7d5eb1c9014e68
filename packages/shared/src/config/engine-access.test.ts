import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSelfSignedCertificate } from '../testing/certificate.ts';
import { engineAccess } from './engine-access.ts';
import { ConfigurationError, engineEnvironment, parseEnvironment } from './environment.ts';

const NEEDED = {
  KAFKA_BROKERS: 'kafka:9093',
  MONGODB_URI: 'mongodb://mongo-1,mongo-2/waybill?replicaSet=rs0&tls=true',
  SCHEMA_REGISTRY_URL: 'https://registry/apis/ccompat/v7',
};

let directory: string;
let pem: { cert: string; key: string };
const file = (name: string) => join(directory, name);

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'waybill-access-'));
  pem = await createSelfSignedCertificate(['localhost']);
  await writeFile(file('cert.pem'), pem.cert);
  await writeFile(file('key.pem'), pem.key);
  await writeFile(file('both.pem'), pem.key + pem.cert);
  await writeFile(file('text.pem'), 'not a certificate, s3cret');
});
afterAll(() => rm(directory, { recursive: true }));

const accessOf = (change: Record<string, string>) =>
  engineAccess(parseEnvironment(engineEnvironment, { ...NEEDED, ...change }));

function faultsOf(change: Record<string, string>): string[] {
  try {
    parseEnvironment(engineEnvironment, { ...NEEDED, ...change });
    return [];
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return error.message
      .split('\n')
      .slice(1)
      .map((line) => line.replace(/^ {2}- /, ''));
  }
}

describe('how engines are spoken to', () => {
  it('is in clear and as nobody unless the environment says otherwise', () => {
    expect(accessOf({})).toEqual({ kafka: {}, mongodb: {}, registry: {} });
  });

  it('is over TLS, trusting whom Node trusts, by KAFKA_SSL alone', () => {
    expect(accessOf({ KAFKA_SSL: 'true' }).kafka).toEqual({ tls: {} });
  });

  it('takes certificates and names from the environment', () => {
    const access = accessOf({
      KAFKA_SSL: 'true',
      KAFKA_CA_FILE: file('cert.pem'),
      KAFKA_CERT_FILE: file('cert.pem'),
      KAFKA_KEY_FILE: file('key.pem'),
      KAFKA_SASL_MECHANISM: 'scram-sha-512',
      KAFKA_SASL_USERNAME: 'waybill',
      KAFKA_SASL_PASSWORD: 'p',
      MONGODB_CA_FILE: file('cert.pem'),
      MONGODB_CERT_FILE: file('both.pem'),
      SCHEMA_REGISTRY_USERNAME: 'waybill',
      SCHEMA_REGISTRY_PASSWORD: 'q',
      SCHEMA_REGISTRY_CA_FILE: file('cert.pem'),
    });
    const { cert, key } = pem;
    expect(access).toEqual({
      kafka: {
        tls: { ca: cert, cert, key },
        sasl: { mechanism: 'scram-sha-512', username: 'waybill', password: 'p' },
      },
      mongodb: { ca: cert, cert: key + cert, key: key + cert },
      registry: { username: 'waybill', password: 'q', ca: cert },
    });
  });

  it('is refused with every fault at once, and no word of what is in a file', () => {
    expect(
      faultsOf({
        KAFKA_SSL: 'yes',
        KAFKA_CA_FILE: file('absent.pem'),
        KAFKA_CERT_FILE: file('text.pem'),
        KAFKA_SASL_MECHANISM: 'gssapi',
        KAFKA_SASL_USERNAME: 'waybill',
        MONGODB_CERT_FILE: file('cert.pem'),
        SCHEMA_REGISTRY_PASSWORD: 'q',
      }).sort(),
    ).toEqual([
      'KAFKA_CA_FILE means nothing unless KAFKA_SSL is true',
      'KAFKA_CA_FILE names a file that cannot be read (ENOENT)',
      'KAFKA_CERT_FILE means nothing unless KAFKA_SSL is true',
      'KAFKA_CERT_FILE names a file that holds no certificate in PEM',
      'KAFKA_KEY_FILE is not set, but KAFKA_CERT_FILE is',
      'KAFKA_SASL_MECHANISM Invalid option: expected one of "plain"|"scram-sha-256"|"scram-sha-512"',
      'KAFKA_SASL_PASSWORD is not set, but KAFKA_SASL_MECHANISM is',
      'KAFKA_SSL Invalid option: expected one of "true"|"false"',
      'MONGODB_CERT_FILE names a file that holds no certificate and unencrypted private key in PEM',
      'SCHEMA_REGISTRY_USERNAME is not set, but SCHEMA_REGISTRY_PASSWORD is',
    ]);
  });

  it('keeps a plain password off a connection in clear', () => {
    const sasl = {
      KAFKA_SASL_MECHANISM: 'plain',
      KAFKA_SASL_USERNAME: 'waybill',
      KAFKA_SASL_PASSWORD: 'p',
    };
    expect(faultsOf(sasl)).toEqual([
      'KAFKA_SASL_MECHANISM plain sends the password as it is: set KAFKA_SSL to true',
    ]);
    expect(faultsOf({ ...sasl, KAFKA_SSL: 'true' })).toEqual([]);
    expect(faultsOf({ ...sasl, KAFKA_SASL_MECHANISM: 'scram-sha-256' })).toEqual([]);
  });

  it.each([
    ['mongodb://mongo/?tls=true', []],
    ['mongodb://mongo/?replicaSet=rs0&ssl=true', []],
    ['mongodb+srv://cluster.example', []],
    ['mongodb+srv://cluster.example/?tls=false', ['MONGODB_CA_FILE']],
    ['mongodb://mongo/?replicaSet=rs0', ['MONGODB_CA_FILE']],
  ])('knows whether %s speaks TLS', (MONGODB_URI, refused) => {
    const change = { MONGODB_URI, MONGODB_CA_FILE: file('cert.pem') };
    expect(faultsOf(change)).toEqual(
      refused.map((name) => `${name} means nothing unless MONGODB_URI says tls=true`),
    );
  });

  it('wants credentials of the registry in variables of their own, and TLS for its authority', () => {
    expect(faultsOf({ SCHEMA_REGISTRY_URL: 'https://me:s3cret@registry/' })).toEqual([
      'SCHEMA_REGISTRY_URL must hold no user name and password: they are SCHEMA_REGISTRY_USERNAME and SCHEMA_REGISTRY_PASSWORD',
    ]);
    expect(
      faultsOf({ SCHEMA_REGISTRY_URL: 'http://registry', SCHEMA_REGISTRY_CA_FILE: file('cert.pem') }),
    ).toEqual(['SCHEMA_REGISTRY_CA_FILE means nothing unless SCHEMA_REGISTRY_URL is https']);
  });
});
