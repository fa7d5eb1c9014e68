import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { freePort } from '@waybill/infra/engines/ports';
import type { ApiKeys } from '../harness/api.ts';
import type { WireRequest } from '../harness/snapshot.ts';
import { docker, dockerLines } from './docker.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** Fetches all dependencies when nothing is cached. */
const BUILD_TIMEOUT_MS = 600_000;
const UP_TIMEOUT_MS = 280_000;
/** For a hook that builds and brings a stack up, on a machine that has much else to do. */
export const BUILT_AND_UP_WITHIN_MS = BUILD_TIMEOUT_MS + UP_TIMEOUT_MS;
const DOWN_TIMEOUT_MS = 90_000;

/**
 * A subscriber's endpoint. GET /received tells what was posted to it. Says 200 to everything, but below /flaky 503 to
 * some attempts, which ones depends on the delivery alone.
 */
const ENDPOINT = `
const received = [];
const { createHash } = require('node:crypto');
require('node:http').createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk)).on('end', () => {
    const { method, url: path, headers } = request;
    if (path === '/received') return response.end(JSON.stringify(received));
    if (path === '/readyz') return response.end();
    const name = headers['idempotency-key'] + '/' + headers['waybill-attempt'];
    const fails = path.startsWith('/flaky') && createHash('sha256').update(name).digest()[0] < 100;
    const answered = fails ? 503 : 200;
    const body = Buffer.concat(chunks).toString('base64');
    received.push({ number: received.length + 1, method, path, headers, body, answered, at: Date.now() });
    response.writeHead(answered).end();
  });
}).listen(8080);
`;

/** Where the subscriber container listens, for services beside it. */
const SUBSCRIBER = 'subscriber:8080';

/** What a test adds to the compose file: a service called `subscriber`, whose image is already there. */
const WITH_SUBSCRIBER = {
  subscriber: {
    build: { context: '.', dockerfile: 'infra/docker/Dockerfile', args: { SERVICE: 'sweeper' } },
    entrypoint: ['node', '--eval', ENDPOINT],
    ports: ['127.0.0.1::8080'],
    stop_signal: 'SIGKILL',
  },
};

export interface ComposeOptions {
  /** What is brought up besides what always is. */
  readonly profiles?: readonly string[];
  /** Opens MongoDB, which the compose file does not, to the test: its port. */
  readonly mongodbPort?: number;
  /** Added to the env file. */
  readonly env?: Readonly<Record<string, string>>;
}

/** The stack of `docker-compose.yml` under a name, an env file and ports of its own. */
export class ComposeProject {
  readonly name: string;
  readonly keys: ApiKeys;
  readonly ports: Readonly<Record<'scheduler' | 'kafka' | 'registry' | 'jaeger', number>>;
  readonly #profiles: readonly string[];
  readonly #directory: string;

  private constructor(
    name: string,
    keys: ApiKeys,
    ports: ComposeProject['ports'],
    profiles: readonly string[],
    directory: string,
  ) {
    this.name = name;
    this.keys = keys;
    this.ports = ports;
    this.#profiles = profiles;
    this.#directory = directory;
  }

  /** Writes the files; starts nothing. */
  static async create({ profiles = [], mongodbPort, env }: ComposeOptions = {}): Promise<ComposeProject> {
    const secret = (): string => randomBytes(24).toString('hex');
    const keys = { ingest: secret(), operator: secret(), admin: secret() };
    const ports = {
      scheduler: await freePort(),
      kafka: await freePort(),
      registry: await freePort(),
      jaeger: await freePort(),
    };
    const directory = await mkdtemp(join(tmpdir(), 'waybill-compose-'));
    const variables = {
      WAYBILL_API_KEYS: Object.entries(keys)
        .map(([role, key]) => `${role}:${role}:${key}`)
        .join(),
      WAYBILL_SECRET_KEYS: `k1:${randomBytes(32).toString('base64')}`,
      WAYBILL_EGRESS_ALLOW: SUBSCRIBER,
      WAYBILL_PORT: ports.scheduler,
      KAFKA_PORT: ports.kafka,
      REGISTRY_PORT: ports.registry,
      JAEGER_PORT: ports.jaeger,
      ...env,
    };
    const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`);
    await writeFile(join(directory, '.env'), lines.join(''));
    const mongodb = { ports: [`127.0.0.1:${mongodbPort}:27017`] };
    const services = { ...WITH_SUBSCRIBER, ...(mongodbPort === undefined ? {} : { mongodb }) };
    await writeFile(join(directory, 'services.json'), JSON.stringify({ services }));
    const name = `waybill-test-${randomBytes(4).toString('hex')}`;
    return new ComposeProject(name, keys, ports, profiles, directory);
  }

  /** Runs `docker compose` on this project. */
  compose(args: readonly string[], timeoutMs?: number): Promise<string> {
    const files = [join(ROOT, 'docker-compose.yml'), join(this.#directory, 'services.json')];
    const options = [
      ...['--project-name', this.name, '--env-file', join(this.#directory, '.env')],
      ...this.#profiles.flatMap((profile) => ['--profile', profile]),
      ...files.flatMap((file) => ['--file', file]),
    ];
    const all = ['compose', ...options, ...args];
    return docker(all, timeoutMs);
  }

  /** Makes the images of what is brought up. */
  async build(): Promise<void> {
    await this.compose(['build'], BUILD_TIMEOUT_MS);
  }

  /** Resolves when every service is ready. @throws with the services' last words when one does not get there. */
  async up(...args: string[]): Promise<void> {
    try {
      await this.compose(['up', '--wait', ...args], UP_TIMEOUT_MS);
    } catch (error) {
      const logs = await this.compose(['logs', '--no-color', '--tail', '15']);
      throw new Error(`${error instanceof Error ? error.message : String(error)}\n${logs}`, { cause: error });
    }
  }

  /** Ids of a service's containers, oldest first; one that ended counts too. */
  async containers(service: string): Promise<string[]> {
    const filters = ['--filter', `label=com.docker.compose.service=${service}`, ...this.#filter()];
    return (await dockerLines('ps', '--all', '--quiet', '--no-trunc', ...filters)).reverse();
  }

  /** A field of a container or image, by a Go template. */
  inspect(id: string, template: string): Promise<string> {
    return docker(['inspect', '--format', template, id]);
  }

  /** The name of a service's own image. */
  image(service: string): string {
    return `${this.name}-${service}`;
  }

  /** What the subscriber container was sent and said so far. */
  async received(): Promise<WireRequest[]> {
    const address = await this.compose(['port', 'subscriber', '8080']);
    const reply = await fetch(`http://${address}/received`);
    const logged = (await reply.json()) as (WireRequest & { body: string; path: string })[];
    return logged.map((request) => ({
      ...request,
      key: request.headers['idempotency-key'] ?? null,
      attempt: Number(request.headers['waybill-attempt'] ?? Number.NaN),
      body: Buffer.from(request.body, 'base64'),
      address: SUBSCRIBER + request.path,
    }));
  }

  /** Containers, volumes and networks of this project, and its images. */
  async leftovers(): Promise<string[]> {
    const lists = await Promise.all([
      dockerLines('ps', '--all', '--quiet', ...this.#filter()),
      dockerLines('volume', 'ls', '--quiet', ...this.#filter()),
      dockerLines('network', 'ls', '--quiet', ...this.#filter()),
      dockerLines('images', '--quiet', `${this.name}-*`),
    ]);
    return lists.flat();
  }

  /** Removes everything that this project made, its data included. Safe to repeat. */
  async destroy(): Promise<void> {
    await this.compose(['down', '--volumes', '--rmi', 'local', '--remove-orphans'], DOWN_TIMEOUT_MS);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.destroy();
    await rm(this.#directory, { recursive: true, force: true });
  }

  #filter(): string[] {
    return ['--filter', `label=com.docker.compose.project=${this.name}`];
  }
}
