import type { CreateIndexesOptions } from 'mongodb';

export interface Index {
  readonly key: Readonly<Record<string, 1 | -1>>;
  readonly options: CreateIndexesOptions & { readonly name: string };
}

/** Rows that are owed have a `dueAt`; closed ones have none, so these indexes stay as small as the backlog. */
const OPEN = { dueAt: { $gt: new Date(0) } };

/** What a dispatch tick enqueued. Nobody asks what a fan-out did. The character after `/` is `0`. */
const OF_A_TICK = { runId: { $gte: 'dispatch/', $lt: 'dispatch0' } };

/** Only what has come to an end can age. */
const ended = (field: string) => ({ partialFilterExpression: { [field]: { $gt: new Date(0) } } });

/**
 * Every index, named as the stores' comments name them. Keys and options may be changed freely: an installation that has
 * others gets these beside them before it loses those.
 */
export const INDEXES: Readonly<Record<string, readonly Index[]>> = {
  status_events: [
    { key: { shipmentId: 1, eventVersion: 1 }, options: { name: 'shipment', unique: true } },
    { key: { dueAt: 1 }, options: { name: 'due', sparse: true } },
    { key: { fannedOutAt: 1, _id: 1 }, options: { name: 'fanned_out', ...ended('fannedOutAt') } },
  ],
  not_sent: [{ key: { eventId: 1, list: 1, last: 1 }, options: { name: 'event' } }],
  deliveries: [
    { key: { shipmentId: 1, subscriberId: 1, eventVersion: 1 }, options: { name: 'identity', unique: true } },
    {
      key: { shipmentId: 1, subscriberId: 1, chain: 1 },
      options: { name: 'chain', unique: true, partialFilterExpression: { chain: { $exists: true } } },
    },
    { key: { dueAt: 1 }, options: { name: 'due', sparse: true } },
    {
      // The shipment comes last: it only spares reading rows of other shipments that are under way.
      key: { subscriberId: 1, tried: 1, state: 1, dueAt: 1, shipmentId: 1 },
      options: { name: 'lane', partialFilterExpression: OPEN },
    },
    {
      key: { subscriberId: 1, shipmentId: 1, eventVersion: 1 },
      options: { name: 'open_versions', partialFilterExpression: OPEN },
    },
    {
      key: { subscriberId: 1, shipmentId: 1, closedAt: 1 },
      options: { name: 'dead_versions', partialFilterExpression: { state: 'dead' } },
    },
    { key: { runId: 1 }, options: { name: 'run', partialFilterExpression: { ...OPEN, ...OF_A_TICK } } },
    { key: { createdAt: -1, _id: -1 }, options: { name: 'newest' } },
    { key: { subscriberId: 1, createdAt: -1, _id: -1 }, options: { name: 'newest_of_subscriber' } },
    { key: { closedAt: -1, _id: -1 }, options: { name: 'dead', partialFilterExpression: { state: 'dead' } } },
    { key: { closedAt: 1, _id: 1 }, options: { name: 'closed', ...ended('closedAt') } },
  ],
  delivery_archive: [{ key: { deliveryId: 1, 'attempts.0.number': 1 }, options: { name: 'delivery' } }],
  lanes: [
    { key: { throttledUntil: 1 }, options: { name: 'throttled', sparse: true } },
    { key: { 'breaker.openUntil': 1 }, options: { name: 'broken', sparse: true } },
  ],
  dead_letters: [
    { key: { putAsideAt: -1, _id: -1 }, options: { name: 'newest' } },
    // Messages are keyed by shipment.
    { key: { key: 1 }, options: { name: 'shipment' } },
  ],
  audit_log: [
    { key: { at: -1, _id: -1 }, options: { name: 'newest' } },
    { key: { target: 1, at: -1, _id: -1 }, options: { name: 'newest_of_target' } },
    { key: { 'actor.key': 1, at: -1, _id: -1 }, options: { name: 'newest_of_actor' } },
    { key: { action: 1, at: -1, _id: -1 }, options: { name: 'newest_of_action' } },
  ],
  runs: [
    { key: { startedAt: -1, _id: -1 }, options: { name: 'newest' } },
    { key: { finishedAt: 1, _id: 1 }, options: { name: 'finished', ...ended('finishedAt') } },
    {
      key: { policyId: 1, startedAt: -1, _id: -1 },
      options: { name: 'of_policy', partialFilterExpression: { policyId: { $gt: '' } } },
    },
  ],
  retention_policies: [{ key: { policyId: 1, version: -1 }, options: { name: 'version', unique: true } }],
  retention_shards: [{ key: { runId: 1, shard: 1 }, options: { name: 'run', unique: true } }],
  retention_ledger: [
    { key: { operationKey: 1 }, options: { name: 'operation', unique: true } },
    { key: { shipmentHash: 1 }, options: { name: 'shipment' } },
    { key: { runId: 1 }, options: { name: 'run' } },
  ],
  retention_erasures: [
    { key: { shipmentHash: 1, requestedAt: -1, _id: -1 }, options: { name: 'shipment' } },
    { key: { open: 1 }, options: { name: 'open', sparse: true } },
    { key: { requestedAt: -1, _id: -1 }, options: { name: 'newest' } },
  ],
};

/** By its keys, since an index may stand under another name than it has here. */
export function hintOf(collection: string, name: string): Record<string, 1 | -1> {
  const index = INDEXES[collection]?.find(({ options }) => options.name === name);
  if (!index) throw new Error(`${collection} has no index ${name}`);
  return { ...index.key };
}
