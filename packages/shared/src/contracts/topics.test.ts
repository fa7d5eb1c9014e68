import { describe, expect, it } from 'vitest';
import { RAW_TOPICS, TOPICS } from './topics.ts';

const EXISTING = new Set([...Object.values(TOPICS), ...RAW_TOPICS].map(({ name }) => name));

describe('the catalogue of topics', () => {
  it.each(Object.values(TOPICS))('knows where $name puts what it cannot take', ({ deadLetterTopic }) => {
    expect(EXISTING).toContain(deadLetterTopic);
  });

  it('keeps what was put aside longer than what can be put aside', () => {
    const kept = new Map(
      [...Object.values(TOPICS), ...RAW_TOPICS].map((topic) => [topic.name, topic.retentionMs]),
    );
    for (const { name, retentionMs, deadLetterTopic } of Object.values(TOPICS)) {
      expect([name, kept.get(deadLetterTopic)]).toEqual([name, expect.any(Number)]);
      expect(kept.get(deadLetterTopic)).toBeGreaterThanOrEqual(retentionMs);
    }
  });

  it('keeps the versions of a shipment, and its commands, in order by their key', () => {
    const event = { shipmentId: 'SHP-1', eventVersion: 1, status: 'x', occurredAt: '', attributes: {} };
    const command = { deliveryId: 'dlv_1', shipmentId: 'SHP-1', subscriberId: 's', runId: 'r' };
    expect(TOPICS.statusEvents.key(event)).toBe('SHP-1');
    expect(TOPICS.deliveryCommands.key(command)).toBe('SHP-1');
    expect(TOPICS.retentionTicks.key({ runId: 'r', policyId: 'default', shard: 2 })).toBe('default/2');
  });
});
