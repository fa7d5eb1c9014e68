import { Validator } from '@seriousme/openapi-schema-validator';
import { PROBLEMS } from '@waybill/shared/domain/errors';
import { describe, expect, it } from 'vitest';
import { openApiDocument } from './openapi.ts';
import { ROUTES } from './routes.ts';

// As it goes over the wire.
const document = JSON.parse(JSON.stringify(openApiDocument(ROUTES)));

function referencesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) =>
    key === '$ref' && typeof item === 'string' ? [item] : referencesIn(item),
  );
}

function lookUp(reference: string): unknown {
  return reference
    .slice(2)
    .split('/')
    .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], document);
}

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1', async () => {
    const validator = new Validator();
    expect(await validator.validate(document)).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
  });

  it('has everything that it refers to', () => {
    const references = new Set(referencesIn(document));
    expect(references.size).toBeGreaterThan(10);
    for (const reference of references)
      expect([reference, lookUp(reference)]).toEqual([reference, expect.anything()]);
  });

  it('names each call once', () => {
    const ids = ROUTES.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('tells of every problem that there is', () => {
    const { responses } = document.components;
    const codes = Object.keys(responses).flatMap((name) => name.split('.'));
    // An operation of the document has its method.
    const { method_not_allowed: _, ...known } = PROBLEMS;
    expect(new Set(codes)).toEqual(new Set(Object.keys(known)));
  });

  it('lets a client of today read what a release of tomorrow answers, and keeps requests closed', () => {
    const { Delivery, StatusEvent, SubscriberInput } = document.components.schemas;
    expect(Delivery).not.toHaveProperty('additionalProperties');
    expect(StatusEvent.additionalProperties).toBe(false);
    expect(SubscriberInput.additionalProperties).toBe(false);
  });
});
