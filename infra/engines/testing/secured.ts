/**
 * Engines that let nobody in who cannot show who they are: real ones, as they are run in production. Everything is on
 * 127.0.0.1, data and certificates are gone with them.
 */

import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type Certificate, createSelfSignedCertificate } from '@waybill/shared/testing/certificate';
import { MongoClient } from 'mongodb';
import { request } from 'undici';
import { type EnginePlace, runEngine } from '../engine-process.ts';
import { type JavaProgram, javaCommand } from '../java.ts';
import { startKafka } from '../kafka.ts';
import { pollUntil } from '../poll.ts';
import { freePort } from '../ports.ts';
import { preparePrograms } from '../programs.ts';
import { runCommand } from '../run-command.ts';

export const USERNAME = 'waybill';
const SET_NAME = 'secured';
const COMMAND_TIMEOUT_MS = 60_000;
const READY_POLL_MS = 20;

export interface SecuredEngines extends AsyncDisposable {
  /** Of the listener that asks for TLS, a client certificate and SASL. */
  readonly brokers: string;
  /** Without credentials: `mongodb://host:port/...`. */
  readonly mongodb: URL;
  /** In front of the registry that was given: TLS and basic authentication. */
  readonly registry: string;
  readonly password: string;
  /** PEM files: who signed all certificates, and one for clients with its key, apart and in one file. */
  readonly files: Readonly<Record<'ca' | 'cert' | 'key' | 'both', string>>;
}

/** @param registryUrl a registry that lets everybody in. */
export async function startSecuredEngines(registryUrl: string): Promise<SecuredEngines> {
  await using undo = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'waybill-secured-'));
  undo.defer(() => rm(directory, { recursive: true, force: true }));
  const certificate = await createSelfSignedCertificate(['127.0.0.1', 'localhost']);
  const files = await writeFiles(directory, certificate);
  const password = randomBytes(16).toString('hex');
  const wanted = { kafka: true, mongodb: true, registry: false };
  const programs = await preparePrograms(wanted, process.env, () => {}, new AbortController().signal);

  const [kafkaPlace, mongodbPlace] = [await placeIn(directory, 'kafka'), await placeIn(directory, 'mongodb')];
  const java = await programs.kafka();
  const kafka = await startSecuredKafka(java, kafkaPlace, files, password);
  undo.defer(() => kafka.engine.stop());
  const mongodb = await startSecuredMongodb(
    await programs.mongod(),
    mongodbPlace,
    files,
    certificate,
    password,
  );
  undo.defer(() => mongodb.engine.stop());
  const registry = await startGate(registryUrl, certificate, password);
  undo.defer(registry.close);

  const disposal = undo.move();
  return {
    brokers: kafka.brokers,
    mongodb: mongodb.uri,
    registry: registry.url,
    password,
    files,
    [Symbol.asyncDispose]: () => disposal.disposeAsync(),
  };
}

async function writeFiles(directory: string, { cert, key }: Certificate): Promise<SecuredEngines['files']> {
  const files = { ca: 'ca.pem', cert: 'cert.pem', key: 'key.pem', both: 'both.pem' };
  const contents = { ca: cert, cert, key, both: key + cert };
  const written = { ...files };
  for (const name of ['ca', 'cert', 'key', 'both'] as const) {
    written[name] = join(directory, files[name]);
    await writeFile(written[name], contents[name], { mode: 0o600 });
  }
  return written;
}

async function placeIn(parent: string, name: string): Promise<EnginePlace> {
  const directory = join(parent, name);
  await mkdir(directory);
  const logFile = join(parent, `${name}.log`);
  return { directory, logFile, graceMs: 0, progress: () => {}, starting: new AbortController().signal };
}

/** The plain listener stays, for the broker itself and for making users; what is tested is the other one. */
async function startSecuredKafka(
  java: JavaProgram,
  place: EnginePlace,
  files: SecuredEngines['files'],
  password: string,
) {
  const port = await freePort();
  const listener = 'listener.name.secured';
  const login = (module: string, options: string) =>
    `org.apache.kafka.common.security.${module} required ${options};`;
  const { brokers: plain, engine } = await startKafka(java, place, ({ port: plainPort, controllerPort }) => ({
    listeners: [
      `PLAINTEXT://127.0.0.1:${plainPort}`,
      `SECURED://127.0.0.1:${port}`,
      `CONTROLLER://127.0.0.1:${controllerPort}`,
    ].join(),
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${plainPort},SECURED://127.0.0.1:${port}`,
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SECURED:SASL_SSL',
    [`${listener}.sasl.enabled.mechanisms`]: 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512',
    [`${listener}.plain.sasl.jaas.config`]: login('plain.PlainLoginModule', `user_${USERNAME}="${password}"`),
    [`${listener}.scram-sha-256.sasl.jaas.config`]: login('scram.ScramLoginModule', ''),
    [`${listener}.scram-sha-512.sasl.jaas.config`]: login('scram.ScramLoginModule', ''),
    [`${listener}.ssl.client.auth`]: 'required',
    [`${listener}.ssl.keystore.type`]: 'PEM',
    [`${listener}.ssl.keystore.location`]: files.both,
    [`${listener}.ssl.truststore.type`]: 'PEM',
    [`${listener}.ssl.truststore.location`]: files.ca,
  }));
  // One at a time: a request may name a user once.
  for (const mechanism of ['SCRAM-SHA-256', 'SCRAM-SHA-512']) {
    await runCommand(
      javaCommand(java.javaHome),
      [
        ...['-Xmx256m', '-XX:TieredStopAtLevel=1', '-cp', join(java.installation, 'jars', '*')],
        ...['kafka.admin.ConfigCommand', '--bootstrap-server', plain, '--alter'],
        ...['--add-config', `${mechanism}=[password=${password}]`],
        ...['--entity-type', 'users', '--entity-name', USERNAME],
      ],
      { env: {}, timeoutMs: COMMAND_TIMEOUT_MS },
    );
  }
  return { brokers: `127.0.0.1:${port}`, engine };
}

async function startSecuredMongodb(
  mongod: string,
  place: EnginePlace,
  files: SecuredEngines['files'],
  { cert, key }: Certificate,
  password: string,
) {
  const port = await freePort();
  const address = `127.0.0.1:${port}`;
  const keyFile = join(place.directory, '..', 'set.key');
  await writeFile(keyFile, randomBytes(96).toString('base64'), { mode: 0o400 });
  const engine = await runEngine(
    {
      title: 'MongoDB',
      command: mongod,
      args: [
        ...['--dbpath', place.directory, '--bind_ip', '127.0.0.1', '--port', String(port)],
        ...['--replSet', SET_NAME, '--nounixsocket', '--wiredTigerCacheSizeGB', '0.25'],
        ...['--tlsMode', 'requireTLS', '--tlsCertificateKeyFile', files.both, '--tlsCAFile', files.ca],
        ...['--auth', '--keyFile', keyFile],
      ],
      untilReady: (log, signal) =>
        pollUntil(async () => (await log()).includes('Waiting for connections'), READY_POLL_MS, signal),
    },
    place,
  );
  // Whoever comes from the same machine may do this as long as there is no user.
  const tls = { tls: true, ca: cert, cert, key };
  await using client = new MongoClient(`mongodb://${address}/?directConnection=true`, tls);
  const admin = client.db('admin');
  await admin.command({ replSetInitiate: { _id: SET_NAME, members: [{ _id: 0, host: address }] } });
  const isPrimary = async () => (await admin.command({ hello: 1 })).isWritablePrimary === true;
  await pollUntil(isPrimary, READY_POLL_MS, AbortSignal.timeout(COMMAND_TIMEOUT_MS));
  // The first may only be one who manages the others.
  await admin.command({ createUser: 'root', pwd: password, roles: ['root'] });
  const auth = { username: 'root', password };
  await using root = new MongoClient(`mongodb://${address}/?directConnection=true`, { ...tls, auth });
  const roles = [{ role: 'readWrite', db: 'waybill' }];
  await root.db('admin').command({ createUser: USERNAME, pwd: password, roles });
  return {
    uri: new URL(`mongodb://${address}/waybill?replicaSet=${SET_NAME}&tls=true&authSource=admin`),
    engine,
  };
}

/** What stands before a registry in production. */
async function startGate(registryUrl: string, { cert, key }: Certificate, password: string) {
  const expected = `Basic ${Buffer.from(`${USERNAME}:${password}`).toString('base64')}`;
  const target = new URL(registryUrl);
  const server = createServer({ cert, key }, async (incoming, outgoing) => {
    if (incoming.headers.authorization !== expected) {
      outgoing.writeHead(401).end();
      return;
    }
    const { authorization: _, host: __, connection: ___, ...headers } = incoming.headers;
    const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
    delete headers['transfer-encoding'];
    const answer = await request(new URL(incoming.url ?? '/', target), {
      method: incoming.method as 'GET',
      headers,
      body: hasBody ? incoming : null,
    });
    const { 'transfer-encoding': ____, connection: _____, ...replied } = answer.headers;
    outgoing.writeHead(answer.statusCode, replied);
    await pipeline(answer.body, outgoing);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://127.0.0.1:${port}${target.pathname}`,
    close: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
