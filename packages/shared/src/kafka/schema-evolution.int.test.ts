import { beforeAll, describe, expect, inject, it } from 'vitest';
import { jsonSchemaOf, TOPICS } from '../contracts/topics.ts';

const SUBJECT = `${TOPICS.retentionTicks.name}-value`;
const registered = jsonSchemaOf('retentionTicks') as { properties: object; required: string[] };
let registry: string;

beforeAll(() => {
  registry = inject('engines').SCHEMA_REGISTRY_URL;
});

/** Asks the registry whether a schema may follow the one that is registered. */
async function mayFollow(schema: object): Promise<boolean> {
  const reply = await fetch(`${registry}/compatibility/subjects/${SUBJECT}/versions/latest`, {
    method: 'POST',
    headers: { 'content-type': 'application/vnd.schemaregistry.v1+json' },
    body: JSON.stringify({ schemaType: 'JSON', schema: JSON.stringify(schema) }),
  });
  expect(reply.status).toBe(200);
  return ((await reply.json()) as { is_compatible: boolean }).is_compatible;
}

describe('a later release', () => {
  const added = { ...registered.properties, added: { type: 'string' } };

  it('may add an optional field', async () => {
    expect(await mayFollow({ ...registered, properties: added })).toBe(true);
  });

  it('may not demand a field that messages of today lack', async () => {
    const required = [...registered.required, 'added'];
    expect(await mayFollow({ ...registered, properties: added, required })).toBe(false);
  });
});
