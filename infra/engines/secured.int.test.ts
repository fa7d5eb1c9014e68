/**
 * A broker that asks for TLS, a client certificate and SASL; a mongod that asks for TLS, a client certificate and a
 * password; a registry behind TLS and basic authentication: spoken to with what the environment says and nothing else.
 */

import { bootstrap } from '@waybill/infra/bootstrap/bootstrap';
import { engineAccess } from '@waybill/shared/config/engine-access';
import { engineEnvironment, parseEnvironment } from '@waybill/shared/config/environment';
import { connect } from '@waybill/shared/runtime/connections';
import { Resources } from '@waybill/shared/runtime/service';
import { createLogger } from '@waybill/shared/telemetry/logger';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { handedInAccess } from './handed-in.ts';
import { requireReachable } from './reachable.ts';
import { type SecuredEngines, startSecuredEngines, USERNAME } from './testing/secured.ts';

const ANSWERS_WITHIN_MS = 5_000;

let engines: SecuredEngines;
let environment: Record<string, string>;

beforeAll(async () => {
  engines = await startSecuredEngines(inject('engines').SCHEMA_REGISTRY_URL);
  const { brokers, mongodb, registry, password, files } = engines;
  const uri = new URL(mongodb);
  uri.username = USERNAME;
  uri.password = password;
  environment = {
    KAFKA_BROKERS: brokers,
    KAFKA_SSL: 'true',
    KAFKA_CA_FILE: files.ca,
    KAFKA_CERT_FILE: files.cert,
    KAFKA_KEY_FILE: files.key,
    KAFKA_SASL_MECHANISM: 'scram-sha-512',
    KAFKA_SASL_USERNAME: USERNAME,
    KAFKA_SASL_PASSWORD: password,
    MONGODB_URI: uri.href,
    MONGODB_CA_FILE: files.ca,
    MONGODB_CERT_FILE: files.both,
    SCHEMA_REGISTRY_URL: registry,
    SCHEMA_REGISTRY_USERNAME: USERNAME,
    SCHEMA_REGISTRY_PASSWORD: password,
    SCHEMA_REGISTRY_CA_FILE: files.ca,
  };
}, 180_000);
afterAll(() => engines?.[Symbol.asyncDispose]());

const settingsWith = (change: Record<string, string>) =>
  parseEnvironment(engineEnvironment, { ...environment, ...change });

/** Connects as a service does and asks each engine whether it is there; resolves with their names. */
async function comeUp(change: Record<string, string> = {}): Promise<string[]> {
  const resources = new Resources();
  try {
    const logger = createLogger('test', 'silent');
    const { checks } = await connect('test', settingsWith(change), ['retentionTicks'], logger, resources);
    await Promise.all(Object.values(checks).map((check) => check(ANSWERS_WITHIN_MS)));
    return Object.keys(checks);
  } finally {
    await resources.stopAll(() => {});
  }
}

/** Tests go on from one another: bootstrap comes first. */
describe('engines that ask who somebody is', () => {
  it('are bootstrapped with what the environment says', async () => {
    const { KAFKA_BROKERS, ...rest } = settingsWith({});
    const lines: string[] = [];
    const settings = {
      ...rest,
      KAFKA_BROKERS: KAFKA_BROKERS.join(','),
      access: engineAccess(settingsWith({})),
    };
    await bootstrap(settings, (line) => lines.push(line));
    expect(lines).toHaveLength(3);
  });

  it('are found to answer before a stack is started on them', async () => {
    const { KAFKA_BROKERS, MONGODB_URI, SCHEMA_REGISTRY_URL } = environment;
    const handedIn = { kafka: KAFKA_BROKERS, mongodb: MONGODB_URI, registry: SCHEMA_REGISTRY_URL };
    await requireReachable(handedIn, handedInAccess(environment));
    await expect(requireReachable(handedIn, handedInAccess({}))).rejects.toThrow(
      /KAFKA_BROKERS .*\nMONGODB_URI .*\nSCHEMA_REGISTRY_URL /,
    );
  });

  it.each(['plain', 'scram-sha-256', 'scram-sha-512'])('let a service in over %s', async (mechanism) => {
    expect(await comeUp({ KAFKA_SASL_MECHANISM: mechanism })).toEqual(['kafka', 'mongodb', 'registry']);
  });

  it.each([
    [
      'the broker a wrong password',
      /SASL SCRAM SHA512 authentication failed.*KAFKA_SASL_PASSWORD/,
      { KAFKA_SASL_PASSWORD: 'wrong' },
    ],
    [
      'the broker no client certificate',
      /SSL routines:.*alert.*KAFKA_CERT_FILE/,
      { KAFKA_CERT_FILE: '', KAFKA_KEY_FILE: '' },
    ],
    [
      'the broker an authority that did not sign it',
      /self-signed certificate.*KAFKA_CA_FILE/,
      { KAFKA_CA_FILE: '' },
    ],
    ['mongod no client certificate', /connection .* closed.*MONGODB_CERT_FILE/, { MONGODB_CERT_FILE: '' }],
    [
      'mongod an authority that did not sign it',
      /self-signed certificate.*MONGODB_CA_FILE/,
      { MONGODB_CA_FILE: '' },
    ],
    [
      'the registry a wrong password',
      /status 401\. .*SCHEMA_REGISTRY_PASSWORD/,
      { SCHEMA_REGISTRY_PASSWORD: 'wrong' },
    ],
    [
      'the registry an authority that did not sign it',
      /self-signed certificate.*SCHEMA_REGISTRY_CA_FILE/,
      { SCHEMA_REGISTRY_CA_FILE: '' },
    ],
  ])('refuse who shows %s', async (_what, reason, change) => {
    await expect(comeUp(change)).rejects.toThrow(reason);
  });
});
