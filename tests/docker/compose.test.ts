import { existsSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Api, type Delivery } from '../harness/api.ts';
import { EVENTS_TOPIC, statusEvent } from '../harness/scenario.ts';
import { Topics } from '../harness/topics.ts';
import { eventually } from '../harness/waiting.ts';
import { BUILT_AND_UP_WITHIN_MS, ComposeProject } from './compose-project.ts';
import { describeWithDocker, docker } from './docker.ts';

const SERVICES = ['scheduler', 'dispatcher', 'sweeper'] as const;
const ENGINES = ['kafka', 'mongodb', 'registry', 'jaeger'] as const;
const STARTED = '{{.Id}} {{.State.StartedAt}}';
/** What container runtimes grant between SIGTERM and SIGKILL. */
const STOP_WITHIN_MS = 10_000;
/** For a test that brings the stack up, on a machine that has much else to do. */
const UP_WITHIN_MS = 300_000;

/** Run by the node of an image: who it is, which programs install others, and which run as somebody else. */
const PROBE = `
const { existsSync, readdirSync, statSync } = require('node:fs');
const names = ['npm', 'npx', 'pnpm', 'pnpx', 'corepack', 'yarn', 'apt', 'apt-get', 'dpkg', 'apk'];
const paths = process.env.PATH.split(':').filter(existsSync);
const found = paths.flatMap((path) => names.map((name) => path + '/' + name)).filter(existsSync);
if (existsSync('/usr/local/lib/node_modules')) found.push('/usr/local/lib/node_modules');
const programs = paths.flatMap((path) => readdirSync(path).map((name) => path + '/' + name)).filter(existsSync);
found.push(...programs.filter((path) => statSync(path).mode & 0o6000));
console.log(JSON.stringify({ uid: process.getuid(), major: process.versions.node.split('.')[0], found }));
`;

/** What is read of `docker compose config`. */
interface ComposeConfig {
  readonly services: Readonly<
    Record<
      string,
      {
        readonly image?: string;
        readonly ports?: readonly { readonly host_ip?: string }[];
        readonly volumes?: readonly { readonly type: string; readonly source?: string }[];
        readonly cap_drop?: readonly string[];
        readonly restart?: string;
      }
    >
  >;
}

/** Tests go on from one another: a stack takes long to come up. */
describeWithDocker('docker compose', () => {
  let project: ComposeProject;
  let api: Api;

  beforeAll(async () => {
    project = await ComposeProject.create();
    api = new Api(`http://127.0.0.1:${project.ports.scheduler}`, project.keys);
    await project.build();
    await project.up();
  }, BUILT_AND_UP_WITHIN_MS);
  afterAll(() => project?.[Symbol.asyncDispose](), 120_000);

  async function delivered(shipmentId: string): Promise<Delivery> {
    return await eventually(async () => {
      const [delivery, ...more] = await api.deliveries({ shipmentId });
      expect([delivery?.state, more]).toEqual(['delivered', []]);
      return delivery as Delivery;
    });
  }

  it('refuses to start without secrets and says which', async () => {
    const args = ['compose', '--env-file', '/dev/null', '--file', 'docker-compose.yml', 'config', '--quiet'];
    await expect(docker(args)).rejects.toThrow(
      /WAYBILL_(API|SECRET)_KEYS is missing a value: .*\.env\.example/,
    );
  });

  it('publishes nothing beyond loopback under any profile, and pins every image', async () => {
    const profiles = ['--profile', 'demo', '--profile', 'observability'];
    const config: ComposeConfig = JSON.parse(
      await project.compose([...profiles, 'config', '--format', 'json']),
    );
    const { services } = config;
    expect(Object.keys(services)).toEqual(expect.arrayContaining(['demo-upstream', 'prometheus', 'grafana']));
    for (const [name, service] of Object.entries(services)) {
      const hosts = (service.ports ?? []).map((port) => port.host_ip);
      expect([name, hosts.filter((host) => host !== '127.0.0.1')]).toEqual([name, []]);
      if (service.image)
        expect([name, service.image]).toEqual([name, expect.stringMatching(/:v?\d[\w.-]+$/)]);
      for (const { type, source } of service.volumes ?? []) {
        if (type === 'bind') expect([source, existsSync(source ?? '')]).toEqual([source, true]);
      }
      if (name === 'subscriber') continue;
      expect([name, service.cap_drop, service.restart ?? 'none']).toEqual([
        name,
        ['ALL'],
        expect.stringMatching(/^(unless-stopped|no)$/),
      ]);
    }
  });

  it('comes up by itself, bootstrap done and every service ready', async () => {
    const [bootstrap = ''] = await project.containers('bootstrap');
    expect(await project.inspect(bootstrap, '{{.State.Status}} {{.State.ExitCode}}')).toBe('exited 0');
    for (const service of [...SERVICES, ...ENGINES]) {
      const [id = ''] = await project.containers(service);
      expect([service, await project.inspect(id, '{{.State.Health.Status}}')]).toEqual([service, 'healthy']);
    }
  });

  it('tells a subscriber beside it, once', async () => {
    await api.putSubscriber('clinic', { url: 'http://subscriber:8080/hook' });
    expect((await api.postEvents(statusEvent('compose'))).status).toBe(202);
    const delivery = await delivered('SHP-compose');
    const received = await project.received();
    expect(received.map(({ headers }) => headers['idempotency-key'])).toEqual([delivery.idempotencyKey]);
    expect(JSON.parse(received[0]?.body.toString() ?? '')).toMatchObject({ subject: 'SHP-compose' });
  });

  it('takes an event that an upstream system on this machine writes to Kafka', async () => {
    const registry = `http://127.0.0.1:${project.ports.registry}/apis/ccompat/v7`;
    await using topics = await Topics.connect(`127.0.0.1:${project.ports.kafka}`, registry);
    const event = statusEvent('upstream');
    const value = await topics.framed(EVENTS_TOPIC, JSON.stringify(event));
    await topics.produce(EVENTS_TOPIC, [{ key: event.shipmentId, value }]);
    await delivered(event.shipmentId);
  });

  it.each([...SERVICES, 'bootstrap'])(
    'runs %s without root, rights or a package manager',
    async (service) => {
      const image = project.image(service);
      expect(await project.inspect(image, '{{.Config.User}}')).toMatch(/^[1-9]\d*:[1-9]\d*$/);
      const run = ['run', '--rm', '--network', 'none', '--entrypoint', 'node', image, '--eval', PROBE];
      expect(JSON.parse(await docker(run))).toEqual({ uid: 1000, major: '24', found: [] });

      const [id = ''] = await project.containers(service);
      const host = JSON.parse(await project.inspect(id, '{{json .HostConfig}}'));
      expect(host).toMatchObject({
        ReadonlyRootfs: true,
        Privileged: false,
        CapDrop: ['ALL'],
        SecurityOpt: ['no-new-privileges:true'],
      });
      expect(host.Memory).toBeGreaterThan(0);
    },
  );

  it('publishes ports on the loopback address alone, and none of workers', async () => {
    const published = async (service: string): Promise<string[]> => {
      const [id = ''] = await project.containers(service);
      const bindings = await project.inspect(id, '{{json .HostConfig.PortBindings}}');
      const parsed = JSON.parse(bindings) as Record<string, { HostIp: string }[]> | null;
      return Object.values(parsed ?? {}).flatMap((hosts) => hosts.map(({ HostIp }) => HostIp));
    };
    for (const service of ['scheduler', 'kafka', 'registry', 'jaeger']) {
      expect(await published(service)).toEqual(['127.0.0.1']);
    }
    for (const service of ['dispatcher', 'sweeper', 'mongodb', 'bootstrap']) {
      expect(await published(service)).toEqual([]);
    }
  });

  it(
    'leaves what runs alone when it is brought up again, and adds dispatchers on demand',
    async () => {
      const running = async (): Promise<string[]> => {
        const ids = await Promise.all([...SERVICES, ...ENGINES].map((s) => project.containers(s)));
        return await Promise.all(ids.flatMap(([id = '']) => project.inspect(id, STARTED)));
      };
      const before = await running();
      await project.up('--scale', 'dispatcher=3');
      expect(await running()).toEqual(before);
      expect(await project.containers('dispatcher')).toHaveLength(3);
    },
    UP_WITHIN_MS,
  );

  it(
    'keeps its data when it is taken down and brought up again',
    async () => {
      const before = await delivered('SHP-compose');
      await project.compose(['down']);
      await project.up();
      expect(await delivered('SHP-compose')).toEqual(before);
      expect((await api.postEvents(statusEvent('compose'))).body.results[0]?.result).toBe('duplicate');
      expect((await api.postEvents(statusEvent('again'))).status).toBe(202);
      await delivered('SHP-again');
      expect(await project.received()).toHaveLength(1);
    },
    UP_WITHIN_MS,
  );

  it('stops every service in order on SIGTERM', async () => {
    const ids = (await Promise.all(SERVICES.map((service) => project.containers(service)))).flat();
    await project.compose(['kill', '--signal', 'TERM', ...SERVICES]);
    expect((await docker(['wait', ...ids], STOP_WITHIN_MS)).split('\n')).toEqual(ids.map(() => '0'));
  });

  it('leaves nothing behind when it is removed with its volumes', async () => {
    expect(await project.leftovers()).not.toEqual([]);
    await project.destroy();
    expect(await project.leftovers()).toEqual([]);
  });
});
