/** Engines that a process cannot start with: told with their variable, their address and what to look at. */

/** An engine that cannot be used. The message is for who set the environment; it holds no credentials. */
export class EngineFault extends Error {
  override readonly name = 'EngineFault';
}

interface Engine {
  readonly name: string;
  readonly variable: string;
  /** What to do where it does not speak TLS, and where it wants to. */
  readonly inClear: string;
  readonly overTls: string;
  readonly authority: string;
  readonly credentials: string;
}

const ENGINES = {
  kafka: {
    name: 'Kafka',
    variable: 'KAFKA_BROKERS',
    inClear: 'set KAFKA_SSL to false',
    overTls: 'KAFKA_SSL, and KAFKA_CERT_FILE with KAFKA_KEY_FILE',
    authority: 'KAFKA_CA_FILE',
    credentials: 'KAFKA_SASL_MECHANISM, KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD',
  },
  mongodb: {
    name: 'MongoDB',
    variable: 'MONGODB_URI',
    inClear: 'take tls=true out of MONGODB_URI',
    overTls: 'tls=true in MONGODB_URI, and MONGODB_CERT_FILE',
    authority: 'MONGODB_CA_FILE',
    credentials: 'the user, the password and authSource in MONGODB_URI',
  },
  registry: {
    name: 'the schema registry',
    variable: 'SCHEMA_REGISTRY_URL',
    inClear: 'begin SCHEMA_REGISTRY_URL with http:',
    overTls: 'https: in SCHEMA_REGISTRY_URL',
    authority: 'SCHEMA_REGISTRY_CA_FILE',
    credentials: 'SCHEMA_REGISTRY_USERNAME and SCHEMA_REGISTRY_PASSWORD',
  },
} as const satisfies Record<string, Engine>;

/** By what clients and OpenSSL say; the first that fits. Where none does, what they say has to do. */
const ADVICE: readonly (readonly [said: RegExp, advice: (engine: Engine) => string])[] = [
  [
    /ENOTFOUND|EAI_AGAIN/,
    ({ variable }) => `No such name: correct ${variable}, or how names are resolved here.`,
  ],
  [/ECONNREFUSED/, ({ variable }) => `Nothing listens there: start it, or correct the port in ${variable}.`],
  [
    /before secure TLS connection|wrong version number|packet length too long/,
    ({ inClear }) => `It speaks no TLS there: ${inClear}, or name its port for TLS.`,
  ],
  [
    /altnames|does not match certificate/i,
    ({ variable }) => `Its certificate is for another name: name it in ${variable} as the certificate does.`,
  ],
  [
    /self.signed|unable to (?:get|verify)|unknown authority/i,
    ({ authority }) => `Nobody known here signed its certificate: name who did in ${authority}.`,
  ],
  [/certificate has expired/, () => 'Renew its certificate, or set the clock of this machine right.'],
  [
    /SASL|[Aa]uthentication failed|requires authentication|status 40[13]/,
    ({ credentials }) => `It does not know who this is: look at ${credentials}.`,
  ],
  [
    /not authorized|authorization failed/i,
    () => 'Its user may not do that; docs/deploying.md says what it has to be allowed.',
  ],
  [
    /status 404/,
    ({ variable }) =>
      `Has bootstrap run? Does ${variable} lead to the Confluent API (Apicurio: /apis/ccompat/v7)?`,
  ],
  [
    /Server selection timed out/,
    () => 'Is there a primary, and is replicaSet in MONGODB_URI the name of its set?',
  ],
  [
    /alert|closed|ECONNRESET|socket hang up|disconnected/i,
    ({ overTls, credentials }) =>
      `It ended the connection; it may ask for TLS or a client certificate (${overTls}), or for credentials (${credentials}).`,
  ],
  [
    /timed? ?out|timeout|no answer/i,
    () => 'Is it up, and does what lies between (firewall, NetworkPolicy) let this process through?',
  ],
];

/**
 * Does something that needs an engine.
 *
 * @param address as the environment has it; credentials in it are not told.
 * @throws EngineFault with the reason and what to look at; what was thrown is its cause.
 */
export async function needing<T>(
  engine: keyof typeof ENGINES,
  address: string,
  act: () => Promise<T>,
): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw engineFault(engine, address, error);
  }
}

export function engineFault(engine: keyof typeof ENGINES, address: string, cause: unknown): EngineFault {
  const described: Engine = ENGINES[engine];
  const told = cause instanceof Error ? cause.message || cause.name : String(cause);
  // OpenSSL ends its words with a line break.
  const said = told.replace(/\s+/g, ' ').trim();
  const advice = ADVICE.find(([pattern]) => pattern.test(said))?.[1](described);
  const message = `${described.name} cannot be used (${described.variable}: ${withoutCredentials(address)}): ${said}`;
  return new EngineFault(advice ? `${message.replace(/\.$/, '')}. ${advice}` : message, { cause });
}

/** Also options: a password for a key file may be among them. */
function withoutCredentials(address: string): string {
  return address.replace(/[?#].*$/, '').replace(/\/\/.*@/, '//');
}
