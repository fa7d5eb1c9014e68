import { Parser } from '@asyncapi/parser';
import { RAW_TOPICS, TOPICS } from '@waybill/shared/contracts/topics';
import { expect, it } from 'vitest';
import { asyncApiDocument } from './asyncapi.ts';

it('is valid AsyncAPI 3, by its own parser, without a warning', async () => {
  const { document, diagnostics } = await new Parser().parse(asyncApiDocument());
  expect(diagnostics.map(({ message, path }) => `${path.join('.')}: ${message}`)).toEqual([]);
  expect(document?.version()).toBe('3.1.0');
  const addresses = document
    ?.channels()
    .all()
    .map((channel) => channel.address());
  const topics = [...Object.values(TOPICS), ...RAW_TOPICS].map(({ name }) => name);
  expect(addresses?.sort()).toEqual([...topics, null].sort());
});
