import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import { z } from 'zod';
import { openIssues, wordsOf } from '../contracts/fault-words.ts';
import { ROLES, type Role } from '../contracts/http-api.ts';
import { parseEgressPolicy } from '../domain/egress-policy.ts';
import { leaseFault } from '../domain/lease.ts';
import { SAMPLER_NAMES } from '../telemetry/trace-names.ts';
import { ConfigurationError } from './configuration-error.ts';
import { engineAccessEnvironment, engineAccessFaults } from './engine-access.ts';

export { ConfigurationError };

/** An API key as it is held: its secret is not kept, only compared by digest. */
export interface ApiKey {
  /** For the record of who did what. */
  readonly name: string;
  readonly role: Role;
  /** SHA-256 of the secret. A plain hash is enough for what is random and long; it is no password. */
  readonly digest: Buffer;
}

export function digestOfSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

const list = (text: string) =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

/** A list of which every faulty entry is named by its place: an entry itself may hold a credential. */
const entries = <Entry>(read: (entry: string) => Entry | null, fault: string) =>
  z.string().transform((text, context): Entry[] => {
    const items = list(text);
    if (items.length === 0) context.addIssue({ code: 'custom', message: 'must hold at least one entry' });
    return items.flatMap((item, index) => {
      const entry = read(item);
      if (entry !== null) return [entry];
      context.addIssue({ code: 'custom', message: `entry ${index + 1} ${fault}` });
      return [];
    });
  });

const brokers = entries((entry) => {
  const port = /^(?:\[[0-9a-fA-F:]+\]|[^:@/\s]+):(\d{1,5})$/.exec(entry)?.[1];
  return port !== undefined && Number(port) >= 1 && Number(port) <= 65_535 ? entry : null;
}, 'must be host:port');

/** Fewer characters than this can be guessed. */
const MIN_SECRET_LENGTH = 16;

const apiKeys = z.string().transform((text, context): ApiKey[] => {
  const items = list(text);
  if (items.length === 0) context.addIssue({ code: 'custom', message: 'must hold at least one entry' });
  const roleOf = new Map<string, string>();
  const nameOf = new Map<string, string>();
  return items.flatMap((entry, index) => {
    const [name = '', role = '', ...rest] = entry.split(':');
    const secret = rest.join(':');
    const digest = digestOfSecret(secret);
    const fault =
      name === ''
        ? 'has no name'
        : !ROLES.includes(role as Role)
          ? `has no role of ${ROLES.join(', ')}`
          : secret.length < MIN_SECRET_LENGTH
            ? `needs a secret of at least ${MIN_SECRET_LENGTH} characters`
            : (roleOf.get(name) ?? role) !== role
              ? 'has a name that an earlier entry has with another role'
              : nameOf.has(digest.toString('hex'))
                ? 'has a secret that an earlier entry has'
                : null;
    if (!fault) {
      roleOf.set(name, role);
      nameOf.set(digest.toString('hex'), name);
      return [{ name, role: role as Role, digest }];
    }
    context.addIssue({ code: 'custom', message: `entry ${index + 1} must be name:role:secret and ${fault}` });
    return [];
  });
});

const secretKey = entries((entry) => {
  const match = /^([A-Za-z0-9_-]{1,64}):([A-Za-z0-9+/_-]+={0,2})$/.exec(entry);
  const key = Buffer.from(match?.[2] ?? '', 'base64');
  return match?.[1] && key.length === 32 ? { kid: match[1], key } : null;
}, 'must be kid:key, the key 32 bytes in base64');

const secretKeys = secretKey.superRefine((keys, context) => {
  keys.forEach(({ kid }, index) => {
    const first = keys.findIndex((other) => other.kid === kid);
    if (first === index) return;
    const message = `entry ${index + 1} has the name of entry ${first + 1}`;
    context.addIssue({ code: 'custom', message });
  });
});

const egressAllow = z.string().transform((text, context) => {
  list(text).forEach((entry, index) => {
    if (readsAsEgressPolicy(entry)) return;
    const message = `entry ${index + 1} must be a host, address or CIDR range, with an optional port`;
    context.addIssue({ code: 'custom', message });
  });
  return context.issues.length > 0 ? z.NEVER : parseEgressPolicy(text);
});

function readsAsEgressPolicy(entry: string): boolean {
  try {
    parseEgressPolicy(entry);
    return true;
  } catch {
    return false;
  }
}

const url = z.url({ protocol: /^https?$/ });

const registryUrl = url.refine(
  (text) => !/^https?:\/\/[^/]*@/.test(text),
  'must hold no user name and password: they are SCHEMA_REGISTRY_USERNAME and SCHEMA_REGISTRY_PASSWORD',
);

/** Where the engines are, and how they want to be spoken to. */
export const engineEnvironment = {
  KAFKA_BROKERS: brokers.describe('Kafka brokers, host:port, comma separated'),
  MONGODB_URI: z
    .string()
    .regex(/^mongodb(\+srv)?:\/\/\S+$/, 'must begin with mongodb:// or mongodb+srv://')
    .describe('A MongoDB replica set or sharded cluster'),
  SCHEMA_REGISTRY_URL: registryUrl.describe('A schema registry with the Confluent API'),
  ...engineAccessEnvironment,
};

/** What every service reads. Each service adds its own; `docs/configuration.md` lists them all. */
export const commonEnvironment = {
  ...engineEnvironment,
  OTEL_EXPORTER_OTLP_ENDPOINT: url.optional().describe('Where traces go; unset: nowhere'),
  OTEL_TRACES_SAMPLER: z
    .enum(SAMPLER_NAMES)
    .default('parentbased_always_on')
    .describe('Which traces are kept; attempts that were not accepted always are'),
  OTEL_TRACES_SAMPLER_ARG: z.coerce
    .number()
    .min(0)
    .max(1)
    .default(1)
    .describe('The share of traces that the samplers by ratio keep'),
  HTTP_HOST: z
    .string()
    .refine((host) => isIP(host) > 0, 'must be an IP address')
    .default('0.0.0.0')
    .describe('Address to listen on; `pnpm stack` takes 127.0.0.1'),
  HTTP_PORT: z.coerce.number().int().min(0).max(65_535).default(8080).describe('0 takes a free port'),
  LEASE_MS: z.coerce
    .number()
    .int()
    .superRefine((leaseMs, context) => {
      const fault = leaseFault(leaseMs);
      if (fault !== null) context.addIssue({ code: 'custom', message: fault });
    })
    .default(30_000)
    .describe('How long a worker that died holds a delivery, in milliseconds'),
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
    .default('info')
    .describe('Least level of the JSON lines on stdout'),
};

/** Settings that more than one service reads, each declared once. */
export const sharedEnvironment = {
  WAYBILL_API_KEYS: apiKeys.describe('name:role:secret, comma separated; roles ingest, operator, admin'),
  WAYBILL_SECRET_KEYS: secretKeys.describe(
    'kid:key, comma separated, keys 32 bytes in base64; the first one seals',
  ),
  WAYBILL_EGRESS_ALLOW: egressAllow
    .default(() => parseEgressPolicy(''))
    .describe('Hosts and CIDRs, each with an optional port, that may be called besides public https'),
};

/**
 * Reads the environment by a schema, one field per variable. An empty variable counts as unset.
 *
 * @throws ConfigurationError with every fault; it names variables and never shows a value.
 */
export function parseEnvironment<Shape extends z.ZodRawShape>(
  shape: Shape,
  environment: NodeJS.ProcessEnv,
): z.output<z.ZodObject<Shape>> {
  const given = Object.fromEntries(
    Object.keys(shape).flatMap((name) => (environment[name] ? [[name, environment[name]]] : [])),
  );
  const parsed = z.object(shape).safeParse(given);
  const between = engineAccessFaults(given);
  if (parsed.success && between.length === 0) return parsed.data;
  const single = openIssues(parsed.error?.issues ?? []).map((issue) => {
    const name = String(issue.path[0]);
    return name in given ? `${name} ${wordsOf(issue)}` : `${name} is not set`;
  });
  throw new ConfigurationError([...single, ...between]);
}
