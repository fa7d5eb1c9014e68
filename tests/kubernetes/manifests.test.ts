/**
 * What `infra/kubernetes` makes of itself, by kubectl's own kustomize: whether Kubernetes and KEDA would take it, and
 * whether the services would start with it and can do no more than they must.
 */

import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { ScaledObject } from '@kubernetes-models/keda/keda.sh/v1alpha1/ScaledObject';
import { TriggerAuthentication } from '@kubernetes-models/keda/keda.sh/v1alpha1/TriggerAuthentication';
import { PodMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PodMonitor';
import { findCommand } from '@waybill/infra/engines/command-path';
import { TOPICS } from '@waybill/shared/contracts/topics';
import { beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { findPython, prepareScripts, type RunScript } from '../harness/python.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const KUBERNETES = join(ROOT, 'infra/kubernetes');
const SCRIPTS = {
  name: 'kubernetes-validate',
  title: "the schemas of Kubernetes' objects",
  folder: new URL('./', import.meta.url),
};
/** The oldest that has what the manifests use, and the newest that is known. */
const VERSIONS = ['1.32', '1.37'];
const SERVICES = ['scheduler', 'dispatcher', 'sweeper'];

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: object;
}

interface Container {
  readonly name: string;
  readonly image: string;
  readonly env?: readonly Variable[];
  readonly envFrom: readonly { configMapRef?: { name: string }; secretRef?: { name: string } }[];
  readonly securityContext: object;
  readonly resources: { readonly requests: object; readonly limits: { readonly memory: string } };
}

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly data?: Readonly<Record<string, string>>;
  // biome-ignore lint/suspicious/noExplicitAny: schemas say what it holds; what is read of it here is asserted.
  readonly spec: any;
}

const kubectl = await findCommand(process.env, 'kubectl', 'kustomize');
const python = await findPython();
if (!kubectl) process.stderr.write('No kubectl or kustomize here: the manifests are not rendered.\n');
if (!python) process.stderr.write('No Python 3 with pip here: the manifests are not validated.\n');

async function render(directory: string): Promise<Manifest[]> {
  const args = kubectl?.endsWith('kubectl') ? ['kustomize', directory] : ['build', directory];
  const { stdout } = await promisify(execFile)(kubectl ?? '', args, { maxBuffer: 16 * 1024 * 1024 });
  return parseAllDocuments(stdout).map((document) => document.toJS() as Manifest);
}

/** The base with another autoscaler than the example has. */
async function renderWith(component: string): Promise<Manifest[]> {
  const directory = await mkdtemp(join(tmpdir(), 'waybill-kustomize-'));
  const from = (path: string) => relative(directory, join(KUBERNETES, path));
  const kustomization = { resources: [from('base')], components: [from(`components/${component}`)] };
  await writeFile(join(directory, 'kustomization.yaml'), JSON.stringify(kustomization));
  try {
    return await render(directory);
  } finally {
    await rm(directory, { recursive: true });
  }
}

describe.skipIf(!kubectl)('the Kubernetes manifests', () => {
  let example: Manifest[];
  let withHpa: Manifest[];

  beforeAll(async () => {
    example = await render(join(KUBERNETES, 'overlays/example'));
    withHpa = await renderWith('hpa');
  });

  const named = (kind: string, name: string): Manifest => {
    const found = example.find((object) => object.kind === kind && object.metadata.name === name);
    if (!found) throw new Error(`there is no ${kind} ${name}`);
    return found;
  };
  const podOf = (name: string) =>
    named(name === 'bootstrap' ? 'Job' : 'Deployment', `waybill-${name}`).spec.template.spec;
  const containerOf = (name: string): Container => podOf(name).containers[0];

  describe.skipIf(!python)('against the schemas of Kubernetes', () => {
    let run: RunScript;
    beforeAll(async () => {
      if (python) run = await prepareScripts(python, SCRIPTS);
    }, 180_000);

    it('hold nothing that it does not know', async () => {
      const own = [...example, ...withHpa].filter(({ apiVersion }) => !apiVersion.startsWith('keda.sh/'));
      expect(own.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['HorizontalPodAutoscaler']));
      await run('validate.py', VERSIONS, JSON.stringify(own));
    });

    it('would be refused with a property that it does not know', async () => {
      const deployment = structuredClone(named('Deployment', 'waybill-sweeper'));
      deployment.spec.template.spec.containers[0].readinessProb = {};
      await expect(run('validate.py', VERSIONS, JSON.stringify([deployment]))).rejects.toThrow(
        /readinessProb/,
      );
    });
  });

  it('scale by lag on topics and groups that there are, to no more than there are partitions', () => {
    const models = { ScaledObject, TriggerAuthentication };
    const custom = example.filter(({ apiVersion }) => apiVersion.startsWith('keda.sh/'));
    for (const object of custom) new models[object.kind as keyof typeof models](object as never).validate();
    const scaled = custom.filter(({ kind }) => kind === 'ScaledObject');
    expect(scaled.map(({ metadata }) => metadata.name)).toEqual(['waybill-dispatcher', 'waybill-scheduler']);
    for (const { spec } of scaled) {
      const { topic, consumerGroup } = spec.triggers[0].metadata;
      const { partitions = 0 } = Object.values(TOPICS).find(({ name }) => name === topic) ?? {};
      expect(spec.maxReplicaCount).toBe(partitions);
      expect(consumerGroup).toBe(spec.scaleTargetRef.name);
    }
  });

  it('are scraped under the names that the alerts ask for', async () => {
    const rendered = await renderWith('prometheus');
    const [monitor, ...others] = rendered.filter(({ apiVersion }) => apiVersion.startsWith('monitoring.'));
    expect(others).toEqual([]);
    new PodMonitor(monitor as never).validate();
    const { podMetricsEndpoints, selector } = monitor?.spec ?? {};
    expect(selector.matchExpressions[0].values).toEqual(SERVICES.map((service) => `waybill-${service}`));
    expect(podMetricsEndpoints).toHaveLength(1);
    const [{ port, relabelings }] = podMetricsEndpoints;
    for (const service of SERVICES) {
      const { name, ports } = podOf(service).containers[0];
      expect([name, ports.map((each: { name: string }) => each.name)]).toEqual([service, [port]]);
    }
    const [job, from] = relabelings;
    expect(job).toMatchObject({ targetLabel: 'job', replacement: 'waybill' });
    const source = ['__meta_kubernetes_pod_container_name'];
    expect(from).toMatchObject({ targetLabel: 'service', sourceLabels: source });
    const alerts = await readFile(join(ROOT, 'infra/observability/alerts.yml'), 'utf8');
    const asked = [...alerts.matchAll(/absent\(up\{job="waybill",service="(\w+)"\}\)/g)];
    expect(asked.map(([, service]) => service)).toEqual(SERVICES);
  });

  it('leave the number of replicas to who scales', () => {
    for (const objects of [example, withHpa]) {
      const deployments = objects.filter(({ kind }) => kind === 'Deployment');
      const fixed = deployments.filter(({ spec }) => spec.replicas !== undefined);
      expect(fixed.map(({ metadata }) => metadata.name)).toEqual(['waybill-sweeper']);
    }
  });

  it('give every service the variables it refuses to start without, and none that it does not know', async () => {
    const page = await readFile(join(ROOT, 'docs/configuration.md'), 'utf8');
    const rows = [...page.matchAll(/^\| `(\w+)` \| ([^|]+) \| ([^|]+) \|/gm)];
    const settings = Object.keys(example.find(({ kind }) => kind === 'ConfigMap')?.data ?? {});
    // What docs/deploying.md says the secret holds.
    const secret = ['MONGODB_URI', 'KAFKA_SASL_USERNAME', 'KAFKA_SASL_PASSWORD'];
    for (const service of SERVICES) {
      const known = rows.filter(([, , who = '']) => who === 'all' || who.split(', ').includes(service));
      const required = known.filter(([, , , unset]) => unset === 'refused').map(([, name]) => name);
      const given = [...settings, ...secret, ...(containerOf(service).env ?? []).map(({ name }) => name)];
      expect([service, required.filter((name) => !given.includes(name ?? ''))]).toEqual([service, []]);
      const names = rows.map(([, name]) => name);
      const foreign = given.filter((name) => !names.includes(name) && !name.startsWith('OTEL_'));
      expect([service, foreign]).toEqual([service, []]);
    }
  });

  it('hold no secret, only references', () => {
    expect(example.filter(({ kind }) => kind === 'Secret')).toEqual([]);
    for (const service of SERVICES) {
      for (const { name, value, valueFrom } of containerOf(service).env ?? []) {
        if (/KEY|PASSWORD|SECRET|TOKEN/.test(name)) expect([name, value]).toEqual([name, undefined]);
        else expect([name, value ?? valueFrom]).not.toEqual([name, undefined]);
      }
    }
    const keys = (name: string) => (containerOf(name).env ?? []).map((variable) => variable.name);
    expect(keys('sweeper')).not.toContain('WAYBILL_SECRET_KEYS');
    expect(keys('dispatcher')).not.toContain('WAYBILL_API_KEYS');
  });

  it.each([...SERVICES, 'bootstrap'])('run %s without root or rights, within limits', (name) => {
    const pod = podOf(name);
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    });
    expect(pod.securityContext.runAsUser).toBeGreaterThan(0);
    const { securityContext, resources, image } = containerOf(name);
    expect(securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(resources).toMatchObject({ requests: { cpu: /./, memory: /./ }, limits: { memory: /./ } });
    expect(image).toMatch(new RegExp(`/${name}:\\d+\\.\\d+\\.\\d+$`));
  });

  it.each(SERVICES)('let at most one %s go at a time, and watch it', (service) => {
    const { spec } = named('PodDisruptionBudget', `waybill-${service}`);
    const { metadata } = named('Deployment', `waybill-${service}`).spec.template;
    expect(metadata.labels).toMatchObject(spec.selector.matchLabels);
    expect(spec.maxUnavailable).toBe(1);
    const { readinessProbe, livenessProbe, startupProbe } = podOf(service).containers[0];
    expect(readinessProbe.httpGet.path).toBe('/readyz');
    // Started again because Kafka is away, it would be no nearer to it.
    expect([livenessProbe.httpGet.path, startupProbe.httpGet.path]).toEqual(['/healthz', '/healthz']);
  });

  it('let out who calls subscribers, to public addresses alone', () => {
    const policies = example.filter(({ kind }) => kind === 'NetworkPolicy');
    const outward = policies.filter(({ spec }) => JSON.stringify(spec.egress ?? []).includes('0.0.0.0/0'));
    const values = ['waybill-dispatcher', 'waybill-scheduler'];
    expect(outward.map(({ spec }) => spec.podSelector)).toEqual([
      { matchExpressions: [{ key: 'app.kubernetes.io/name', operator: 'In', values }] },
    ]);
    const { except } = outward[0]?.spec.egress[0].to[0].ipBlock ?? {};
    expect(except).toEqual(expect.arrayContaining(['10.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12']));
  });
});
