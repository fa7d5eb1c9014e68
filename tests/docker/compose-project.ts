import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { freePort } from '@waybill/infra/engines/ports';
import type { ApiKeys } from '../harness/api.ts';
import { docker, dockerLines } from './docker.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** Builds four images when nothing is cached. */
const UP_TIMEOUT_MS = 280_000;
const DOWN_TIMEOUT_MS = 90_000;

/** A subscriber's endpoint: says 200 to everything, and on GET /received what was posted to it. */
const ENDPOINT = `
const received = [];
require('node:http').createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk)).on('end', () => {
    if (request.url === '/received') return response.end(JSON.stringify(received));
    if (request.method === 'POST') received.push({ headers: request.headers, body: Buffer.concat(chunks).toString() });
    response.end();
  });
}).listen(8080);
`;

/** The compose file, and beside its services one called `subscriber`, whose image is already there. */
const WITH_SUBSCRIBER = {
  services: {
    subscriber: {
      build: { context: '.', dockerfile: 'infra/docker/Dockerfile', args: { SERVICE: 'sweeper' } },
      entrypoint: ['node', '--eval', ENDPOINT],
      ports: ['127.0.0.1::8080'],
      stop_signal: 'SIGKILL',
    },
  },
};

/** What a subscriber container was sent. */
export interface Received {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The stack of `docker-compose.yml` under a name, an env file and ports of its own. */
export class ComposeProject {
  readonly name: string;
  readonly keys: ApiKeys;
  readonly ports: Readonly<Record<'scheduler' | 'kafka' | 'registry', number>>;
  readonly #directory: string;

  private constructor(name: string, keys: ApiKeys, ports: ComposeProject['ports'], directory: string) {
    this.name = name;
    this.keys = keys;
    this.ports = ports;
    this.#directory = directory;
  }

  /** Writes the files; starts nothing. */
  static async create(): Promise<ComposeProject> {
    const secret = (): string => randomBytes(24).toString('hex');
    const keys = { ingest: secret(), operator: secret(), admin: secret() };
    const ports = { scheduler: await freePort(), kafka: await freePort(), registry: await freePort() };
    const directory = await mkdtemp(join(tmpdir(), 'waybill-compose-'));
    const variables = {
      WAYBILL_API_KEYS: Object.entries(keys)
        .map(([role, key]) => `${role}:${role}:${key}`)
        .join(),
      WAYBILL_SECRET_KEYS: `k1:${randomBytes(32).toString('base64')}`,
      WAYBILL_EGRESS_ALLOW: 'subscriber:8080',
      WAYBILL_PORT: ports.scheduler,
      KAFKA_PORT: ports.kafka,
      REGISTRY_PORT: ports.registry,
    };
    const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`);
    await writeFile(join(directory, '.env'), lines.join(''));
    await writeFile(join(directory, 'subscriber.json'), JSON.stringify(WITH_SUBSCRIBER));
    return new ComposeProject(`waybill-test-${randomBytes(4).toString('hex')}`, keys, ports, directory);
  }

  /** Runs `docker compose` on this project. */
  compose(args: readonly string[], timeoutMs?: number): Promise<string> {
    const files = [join(ROOT, 'docker-compose.yml'), join(this.#directory, 'subscriber.json')];
    const options = ['--project-name', this.name, '--env-file', join(this.#directory, '.env')];
    const all = ['compose', ...options, ...files.flatMap((file) => ['--file', file]), ...args];
    return docker(all, timeoutMs);
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

  /** What the subscriber container was sent so far. */
  async received(): Promise<Received[]> {
    const address = await this.compose(['port', 'subscriber', '8080']);
    const reply = await fetch(`http://${address}/received`);
    return (await reply.json()) as Received[];
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
