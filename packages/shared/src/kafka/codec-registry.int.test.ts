import { afterEach, describe, expect, inject, it } from 'vitest';
import { TOPICS, type TopicName } from '../contracts/topics.ts';
import { ANY_JSON, AVRO_EVENT, ForeignProducer, framed } from '../testing/schemas.ts';
import { startTcpProxy } from '../testing/tcp-proxy.ts';
import { Codec, RegistryUnavailableError } from './codec.ts';

const { SCHEMA_REGISTRY_URL } = inject('engines');
const EVENT = {
  shipmentId: 'SHP-Käse',
  eventVersion: 1,
  status: 'in_transit',
  occurredAt: '2026-02-03T04:05:06Z',
  attributes: { region: 'eu' },
  data: { celsius: 4.5, stops: ['a', 'b'] },
};
const foreign = new ForeignProducer(SCHEMA_REGISTRY_URL);
let open = new AsyncDisposableStack();

afterEach(async () => {
  await open.disposeAsync();
  open = new AsyncDisposableStack();
});

/** A codec whose registry can be cut off. */
async function behindProxy() {
  const registry = new URL(SCHEMA_REGISTRY_URL);
  const proxy = open.use(await startTcpProxy(registry.host));
  registry.port = String(proxy.port);
  return { proxy, codec: new Codec(registry.href) };
}

describe('a registry that does not answer', () => {
  it('is no verdict on a message: it is thrown, and the message is read once it answers again', async () => {
    const { proxy, codec: cutOff } = await behindProxy();
    const id = await foreign.register('JSON', ANY_JSON);
    const bytes = framed(id, JSON.stringify(EVENT));
    await proxy.shut();
    await expect(cutOff.decode('statusEvents', bytes)).rejects.toThrow(RegistryUnavailableError);
    await expect(cutOff.check(1_000)).rejects.toThrow();
    await proxy.open();
    expect(await cutOff.decode('statusEvents', bytes)).toEqual({ ok: true, value: EVENT });
    await cutOff.check(1_000);
  });

  it.each([
    ['JSON', ANY_JSON],
    ['AVRO', AVRO_EVENT],
  ] as const)('is not needed for a schema of %s that was seen before', async (type, schema) => {
    const { proxy, codec: cutOff } = await behindProxy();
    const id = await foreign.register(type, schema);
    const bytes =
      type === 'AVRO'
        ? await foreign.encode(id, { ...EVENT, eventId: null })
        : framed(id, JSON.stringify(EVENT));
    await cutOff.decode('statusEvents', bytes);
    await proxy.shut();
    expect(await cutOff.decode('statusEvents', bytes)).toEqual({ ok: true, value: EVENT });
  });

  it('keeps a process from starting', async () => {
    const { proxy, codec: cutOff } = await behindProxy();
    await proxy.shut();
    await expect(cutOff.loadSchemas(['statusEvents'])).rejects.toThrow();
  });
});

describe('registering the schemas', () => {
  it('may be done again and by two at once, and makes no further version', async () => {
    const versions = async () =>
      Promise.all(
        Object.values(TOPICS).map(async ({ name }) => {
          const reply = await fetch(`${SCHEMA_REGISTRY_URL}/subjects/${name}-value/versions`);
          return [name, await reply.json()];
        }),
      );
    const before = await versions();
    const codecs = [new Codec(SCHEMA_REGISTRY_URL), new Codec(SCHEMA_REGISTRY_URL)];
    await Promise.all(codecs.map((codec) => codec.registerSchemas()));
    expect(await versions()).toEqual(before);
    expect(before).toHaveLength(4);
  });

  it.each(Object.keys(TOPICS) as TopicName[])(
    'lets consumers of %s read what older producers write',
    async (name) => {
      const reply = await fetch(`${SCHEMA_REGISTRY_URL}/config/${TOPICS[name].name}-value`);
      expect(await reply.json()).toEqual({ compatibilityLevel: 'BACKWARD' });
    },
  );
});
