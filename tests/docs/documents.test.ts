/** The documents against a running stack: every command in them, and what they say of topics and requests. */

import { access, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { freePort } from '@waybill/infra/engines/ports';
import { startReceiver } from '@waybill/shared/testing/receiver';
import { Ajv } from 'ajv';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { JAEGER_WITHIN_MS, type Jaeger, startTestJaeger } from '../harness/jaeger.ts';
import { runProgram } from '../harness/program.ts';
import { findPython, pythonLibraries } from '../harness/python.ts';
import { statusEvent } from '../harness/scenario.ts';
import { startTestStack, type TestStack } from '../harness/stack.ts';
import { eventually } from '../harness/waiting.ts';
import { BLOCKS, type How } from './commands.ts';
import { type Block, blocksOf, pages, ROOT } from './pages.ts';

const written = (await pages()).flatMap(blocksOf);
const shell = written.filter(({ language }) => language === 'sh');
const labelled = ({ path, text }: Block) => `${path}: ${text}`;

/** How a block is treated; the label that says most about it decides. */
function howOf(block: Block): How | undefined {
  const labels = Object.keys(BLOCKS).filter((label) => labelled(block).startsWith(label));
  return BLOCKS[labels.sort((a, b) => b.length - a.length)[0] ?? ''];
}

let jaeger: Jaeger | null;
let stack: TestStack;
/** Where commands of the documents find programs first. */
let programs: string;

beforeAll(async () => {
  programs = await mkdtemp(join(tmpdir(), 'waybill-documents-'));
  jaeger = await startTestJaeger();
  stack = await startTestStack({ jaeger });
  await tellStory();
}, JAEGER_WITHIN_MS);
afterAll(async () => {
  await stack?.[Symbol.asyncDispose]();
  await jaeger?.[Symbol.asyncDispose]();
  await rm(programs, { recursive: true });
});

/** What docs/investigating.md looks into. */
async function tellStory(): Promise<void> {
  const clinic = await stack.subscribe('clinic-basel', '', [
    'never',
    { status: 503 },
    { status: 204 },
    { status: 400 },
    { status: 204 },
  ]);
  const url = clinic.receiver.url('/hook');
  const delivery = { timeoutMs: 1_000, backoff: { initialMs: 100 } };
  await stack.api.putSubscriber('clinic-basel', {
    url,
    filter: { attributes: { clinic: ['basel'] } },
    delivery,
  });
  await stack.api.putSubscriber('pharmacy-bern', { url, filter: { statuses: ['exception'] } });
  const post = async (shipmentId: string) => {
    const attributes = { clinic: 'basel' };
    await stack.api.postEvents(statusEvent('', { shipmentId, status: 'delivered', attributes }));
    const [delivery] = await stack.settled(shipmentId, 1);
    return delivery;
  };
  const told = await post('SHP-4711');
  expect([told?.state, told?.attempts.length]).toEqual(['delivered', 3]);
  expect((await post('SHP-4712'))?.state).toBe('dead');
}

const bash = (text: string, env: Record<string, string> = {}) =>
  runProgram(['bash', '-euo', 'pipefail', '-c', text], {
    cwd: ROOT,
    env: {
      PATH: [programs, process.env.PATH].join(delimiter),
      API: stack.api.base,
      KEY: stack.api.keys.admin,
      WAYBILL_URL: stack.api.base,
      WAYBILL_API_KEY: stack.api.keys.ingest,
      KAFKA_BROKERS: stack.kafka[0],
      SCHEMA_REGISTRY_URL: stack.kafka[1],
      JAEGER: jaeger?.url ?? '',
      ...env,
    },
  });

/** A Python whose libraries have been installed: installing them again from the same file changes nothing. */
async function putPython(requirements: string): Promise<boolean> {
  const python = await findPython();
  if (python === null) return false;
  const folder = new URL(requirements, `file://${ROOT}`);
  const libraries = await pythonLibraries(
    python,
    { name: 'producers', title: 'the Python producers', folder },
    20,
  );
  const script = `#!/bin/sh
case "$*" in "-m pip install -r ${requirements}requirements.txt") exit 0 ;; esac
PYTHONPATH=${libraries} PYTHONDONTWRITEBYTECODE=1 exec ${python.command} "$@"
`;
  await writeFile(join(programs, 'python3'), script, { mode: 0o755 });
  return true;
}

describe('commands in the documents', () => {
  it('are all in blocks that say so, and it is known of each how it is tried', async () => {
    const other = written.filter(({ language }) => /^(bash|shell|console|zsh|)$/.test(language));
    expect(other.map(labelled)).toEqual([]);
    expect(shell.filter((block) => howOf(block) === undefined).map(labelled)).toEqual([]);
    const used = Object.keys(BLOCKS).filter((label) =>
      shell.some((block) => labelled(block).startsWith(label)),
    );
    expect(used).toEqual(Object.keys(BLOCKS));
    for (const how of Object.values(BLOCKS)) if ('elsewhere' in how) await access(join(ROOT, how.elsewhere));
  });

  it('choose tests that exist', async () => {
    const text = shell
      .filter((block) => 'choosesTests' in (howOf(block) ?? {}))
      .map((block) => block.text)
      .join('');
    const configuration = await readFile(join(ROOT, 'vitest.config.ts'), 'utf8');
    const projects = [...text.matchAll(/--project (\S+)/g)].map(([, name]) => name);
    const files = [...text.matchAll(/ (tests\/\S+)/g)].map(([, path = '']) => path);
    expect([projects.length, files.length]).toEqual([3, 2]);
    for (const name of projects) expect(configuration).toContain(`name: '${name}'`);
    for (const path of files) await access(join(ROOT, path.endsWith('.ts') ? path : `${path}.test.ts`));
  });

  const run = shell.flatMap((block) => {
    const how = howOf(block);
    return how && 'shows' in how
      ? [[labelled(block).split('\n')[0], { ...block, shows: how.shows }] as const]
      : [];
  });
  it.for(run)('%s', async ([, { path, text, shows }], { skip }) => {
    if (text.includes('$JAEGER') && jaeger === null) skip('there is no Jaeger here');
    if (text.includes('python3') && !(await putPython(path.replace('README.md', '')))) {
      skip('no Python 3 with pip here');
    }
    const ended = await eventually(async () => {
      const tried = await bash(text);
      expect(tried).toMatchObject({ code: 0, stdout: expect.not.stringContaining('urn:waybill:problem') });
      // A trace is there a moment later than what it tells of.
      for (const pattern of shows) expect(tried.stdout).toMatch(pattern);
      return tried;
    });
    expect(ended.code).toBe(0);
  });

  it('of the first look in the README lead to a delivery that explains itself', async () => {
    const port = String(await freePort());
    const { admin } = stack.api.keys;
    const walk = shell
      .filter((block) => 'walk' in (howOf(block) ?? {}))
      .map(({ text }) => text)
      .join('')
      .replaceAll('9000', port)
      .replace('API=http://127.0.0.1:… KEY=…', `API=${stack.api.base} KEY=${admin}`);
    expect(walk).not.toContain('…');
    // The receiver goes on in the background there; here it must end with the rest.
    const script = `${walk}\nfor n in $(seq 300); do curl -s "$API/v1/deliveries?shipmentId=SHP-1" -H "Authorization: Bearer $KEY" | grep -q '"state":"delivered"' && break; sleep 0.1; done\ncurl -s "$API/v1/deliveries?shipmentId=SHP-1&subscriberId=clinic" -H "Authorization: Bearer $KEY"; kill %1`;
    const { code, stdout } = await bash(script);
    expect(code).toBe(0);
    expect(stdout).toContain('"type":"shipment.in_transit"');
    expect(stdout).toMatch(/"state":"delivered".*"outcome":"accepted"/);
  });
});

interface AsyncApi {
  channels: Record<
    string,
    {
      address: string | null;
      messages: Record<string, { $ref: string }>;
      bindings?: { kafka: { partitions: number; topicConfiguration: { 'retention.ms': number } } };
    }
  >;
  components: {
    messages: Record<string, { payload?: { schema: JsonSchema } }>;
    schemas: { webhookHeaders: JsonSchema };
  };
}
type JsonSchema = { properties: Record<string, JsonSchema> };

describe('docs/asyncapi.yaml', async () => {
  const document: AsyncApi = parse(await readFile(join(ROOT, 'docs/asyncapi.yaml'), 'utf8'));
  const { channels, components } = document;

  it('says of topics what Kafka and the registry say', async () => {
    for (const [name, { address, bindings }] of Object.entries(channels)) {
      if (address === null) continue;
      const { partitions, retentionMs } = await stack.topics.settings(address);
      expect([address, bindings?.kafka.partitions]).toEqual([address, partitions]);
      expect([address, bindings?.kafka.topicConfiguration['retention.ms']]).toEqual([address, retentionMs]);
      const schema = components.messages[name]?.payload?.schema;
      expect([address, schema ?? null]).toEqual([address, await stack.topics.registeredSchema(address)]);
    }
  });

  it('says of requests what subscribers receive', async () => {
    const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
    const judge = (schema: JsonSchema | undefined, value: object) => {
      if (schema === undefined) throw new Error('there is no such schema');
      ajv.validate(schema, value);
      const unknown = Object.keys(value).filter((name) => !Object.hasOwn(schema.properties, name));
      return { errors: ajv.errors ?? [], unknown };
    };
    const right = { errors: [], unknown: [] };
    const OF_HTTP = ['host', 'connection', 'content-length', 'tracestate'];

    await using receiver = await startReceiver();
    const received = async (payload: string, number: number, message: string) => {
      await stack.api.call('admin', 'PUT', '/v1/subscribers/documented', {
        url: receiver.url('/hook'),
        filter: { attributes: { story: ['documented'] } },
        auth: { type: 'signature' },
        delivery: { payload, sequence: true },
      });
      if (message === 'test') await stack.api.call('operator', 'POST', '/v1/subscribers/documented/test');
      else await stack.api.postEvents(statusEvent('documented', { eventVersion: number }));
      const { headers, body } = await receiver.request(number);
      const own = Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_HTTP.includes(name)));
      expect([message, judge(components.schemas.webhookHeaders, own)]).toEqual([message, right]);
      const judged = judge(components.messages[message]?.payload?.schema, JSON.parse(body.toString()));
      expect([message, judged]).toEqual([message, right]);
    };
    await received('full', 1, 'statusChanged');
    await received('id-only', 2, 'statusChangedIdOnly');
    await received('empty', 3, 'statusChangedEmpty');
    await received('full', 4, 'test');
  });
});
