/** How the engines want to be spoken to: TLS, and as whom. */

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { KafkaAccess } from '../kafka/client.ts';
import type { RegistryAccess } from '../kafka/registry-access.ts';
import type { DatabaseAccess } from '../stores/client.ts';

/** Reads a file once, at start; the fault names no content. `check` throws at what the file must not be. */
const pemFile = (what: string, check: (pem: string) => unknown) =>
  z.string().transform((path, context): string => {
    let pem: string;
    try {
      pem = readFileSync(path, 'utf8');
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : 'unknown';
      context.addIssue({ code: 'custom', message: `names a file that cannot be read (${code})` });
      return z.NEVER;
    }
    try {
      check(pem);
      return pem;
    } catch {
      context.addIssue({ code: 'custom', message: `names a file that holds no ${what} in PEM` });
      return z.NEVER;
    }
  });

const certificates = pemFile('certificate', (pem) => new X509Certificate(pem));
const privateKey = pemFile('unencrypted private key', (pem) => createPrivateKey(pem));
const certificateAndKey = pemFile('certificate and unencrypted private key', (pem) => {
  new X509Certificate(pem);
  createPrivateKey(pem);
});

export const engineAccessEnvironment = {
  KAFKA_SSL: z
    .enum(['true', 'false'])
    .default('false')
    .describe('`true`: brokers are spoken to over TLS, their certificates checked'),
  KAFKA_CA_FILE: certificates
    .optional()
    .describe('Who signs brokers’ certificates, a PEM file; unset: who Node trusts'),
  KAFKA_CERT_FILE: certificates
    .optional()
    .describe('Client certificate for brokers that ask for one, a PEM file'),
  KAFKA_KEY_FILE: privateKey.optional().describe('Its key, a PEM file without a passphrase'),
  KAFKA_SASL_MECHANISM: z
    .enum(['plain', 'scram-sha-256', 'scram-sha-512'])
    .optional()
    .describe('plain (only over TLS), scram-sha-256 or scram-sha-512'),
  KAFKA_SASL_USERNAME: z.string().optional().describe('As whom'),
  KAFKA_SASL_PASSWORD: z.string().optional().describe('And its password'),
  MONGODB_CA_FILE: certificates
    .optional()
    .describe('Who signs the servers’ certificates, a PEM file, where MONGODB_URI says `tls=true`'),
  MONGODB_CERT_FILE: certificateAndKey
    .optional()
    .describe('Client certificate and its key, one PEM file, for servers that ask for it'),
  SCHEMA_REGISTRY_USERNAME: z.string().optional().describe('As whom, by HTTP basic authentication'),
  SCHEMA_REGISTRY_PASSWORD: z.string().optional().describe('And its password'),
  SCHEMA_REGISTRY_CA_FILE: certificates
    .optional()
    .describe('Who signs the registry’s certificate, a PEM file, where its address is https'),
};

type Given = Readonly<Record<string, string | undefined>>;

/** These are set together or not at all. */
const TOGETHER = [
  ['KAFKA_SASL_MECHANISM', 'KAFKA_SASL_USERNAME', 'KAFKA_SASL_PASSWORD'],
  ['KAFKA_CERT_FILE', 'KAFKA_KEY_FILE'],
  ['SCHEMA_REGISTRY_USERNAME', 'SCHEMA_REGISTRY_PASSWORD'],
] as const;

/** What is wrong between variables: each may be right by itself, and a setting that would be passed over is refused. */
export function engineAccessFaults(given: Given): string[] {
  const faults: string[] = [];
  for (const group of TOGETHER) {
    const present = group.filter((name) => given[name]);
    if (present.length === 0) continue;
    for (const name of group) if (!given[name]) faults.push(`${name} is not set, but ${present[0]} is`);
  }
  if (given.KAFKA_SSL !== 'true') {
    for (const name of ['KAFKA_CA_FILE', 'KAFKA_CERT_FILE', 'KAFKA_KEY_FILE']) {
      if (given[name]) faults.push(`${name} means nothing unless KAFKA_SSL is true`);
    }
    if (given.KAFKA_SASL_MECHANISM === 'plain') {
      faults.push('KAFKA_SASL_MECHANISM plain sends the password as it is: set KAFKA_SSL to true');
    }
  }
  if (given.MONGODB_URI && !speaksTls(given.MONGODB_URI)) {
    for (const name of ['MONGODB_CA_FILE', 'MONGODB_CERT_FILE']) {
      if (given[name]) faults.push(`${name} means nothing unless MONGODB_URI says tls=true`);
    }
  }
  const { SCHEMA_REGISTRY_URL: registry, SCHEMA_REGISTRY_CA_FILE: registryCa } = given;
  if (registryCa && registry && !registry.startsWith('https:')) {
    faults.push('SCHEMA_REGISTRY_CA_FILE means nothing unless SCHEMA_REGISTRY_URL is https');
  }
  return faults;
}

/** `mongodb+srv` does unless it is told not to. */
function speaksTls(uri: string): boolean {
  const said = /[?&](?:tls|ssl)=(true|false)(?:&|$)/.exec(uri)?.[1];
  return said === undefined ? uri.startsWith('mongodb+srv:') : said === 'true';
}

export type EngineAccessSettings = z.output<z.ZodObject<typeof engineAccessEnvironment>>;

/** How each client connects. */
export interface EngineAccess {
  readonly kafka: KafkaAccess;
  readonly mongodb: DatabaseAccess;
  readonly registry: RegistryAccess;
}

export function engineAccess(settings: Partial<EngineAccessSettings>): EngineAccess {
  const { KAFKA_CA_FILE: ca, KAFKA_CERT_FILE: cert, KAFKA_KEY_FILE: key } = settings;
  const { KAFKA_SASL_MECHANISM: mechanism, KAFKA_SASL_USERNAME, KAFKA_SASL_PASSWORD } = settings;
  const { MONGODB_CA_FILE, MONGODB_CERT_FILE } = settings;
  const { SCHEMA_REGISTRY_USERNAME, SCHEMA_REGISTRY_PASSWORD, SCHEMA_REGISTRY_CA_FILE } = settings;
  return {
    kafka: {
      ...(settings.KAFKA_SSL === 'true' && {
        tls: { ...(ca && { ca }), ...(cert && key && { cert, key }) },
      }),
      ...(mechanism && {
        sasl: { mechanism, username: KAFKA_SASL_USERNAME ?? '', password: KAFKA_SASL_PASSWORD ?? '' },
      }),
    },
    mongodb: {
      ...(MONGODB_CA_FILE && { ca: MONGODB_CA_FILE }),
      ...(MONGODB_CERT_FILE && { cert: MONGODB_CERT_FILE, key: MONGODB_CERT_FILE }),
    },
    registry: {
      ...(SCHEMA_REGISTRY_USERNAME && {
        username: SCHEMA_REGISTRY_USERNAME,
        password: SCHEMA_REGISTRY_PASSWORD ?? '',
      }),
      ...(SCHEMA_REGISTRY_CA_FILE && { ca: SCHEMA_REGISTRY_CA_FILE }),
    },
  };
}
