import type { CreateIndexesOptions, Db, IndexSpecification } from 'mongodb';

interface Index {
  readonly key: IndexSpecification;
  readonly options: CreateIndexesOptions & { readonly name: string };
}

/** Rows that are owed have a `dueAt`; closed ones have none, so these indexes stay as small as the backlog. */
const OPEN = { dueAt: { $gt: new Date(0) } };

/** Only what has come to an end can age. */
const ended = (field: string) => ({ partialFilterExpression: { [field]: { $gt: new Date(0) } } });

/** Every index, named as the stores' comments name them. */
const INDEXES: Readonly<Record<string, readonly Index[]>> = {
  status_events: [
    { key: { shipmentId: 1, eventVersion: 1 }, options: { name: 'shipment', unique: true } },
    { key: { dueAt: 1 }, options: { name: 'due', sparse: true } },
    { key: { fannedOutAt: 1, _id: 1 }, options: { name: 'fanned_out', ...ended('fannedOutAt') } },
  ],
  deliveries: [
    { key: { shipmentId: 1, subscriberId: 1, eventVersion: 1 }, options: { name: 'identity', unique: true } },
    { key: { dueAt: 1 }, options: { name: 'due', sparse: true } },
    {
      key: { subscriberId: 1, tried: 1, state: 1, dueAt: 1 },
      options: { name: 'lane', partialFilterExpression: OPEN },
    },
    {
      key: { subscriberId: 1, dueAt: 1 },
      options: { name: 'due_of_subscriber', partialFilterExpression: OPEN },
    },
    { key: { runId: 1 }, options: { name: 'run', partialFilterExpression: OPEN } },
    { key: { createdAt: -1, _id: -1 }, options: { name: 'newest' } },
    { key: { subscriberId: 1, createdAt: -1, _id: -1 }, options: { name: 'newest_of_subscriber' } },
    { key: { closedAt: -1, _id: -1 }, options: { name: 'dead', partialFilterExpression: { state: 'dead' } } },
    { key: { closedAt: 1, _id: 1 }, options: { name: 'closed', ...ended('closedAt') } },
  ],
  delivery_archive: [{ key: { deliveryId: 1, 'attempts.0.number': 1 }, options: { name: 'delivery' } }],
  dead_letters: [{ key: { putAsideAt: -1, _id: -1 }, options: { name: 'newest' } }],
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
  ],
  retention_erasures: [
    { key: { shipmentHash: 1 }, options: { name: 'shipment' } },
    { key: { open: 1 }, options: { name: 'open', sparse: true } },
  ],
};

/** Makes what is missing. Safe to run twice and by two at once. */
export async function ensureIndexes(db: Db): Promise<void> {
  await Promise.all(
    Object.entries(INDEXES).flatMap(([collection, indexes]) =>
      indexes.map(({ key, options }) => db.collection(collection).createIndex(key, options)),
    ),
  );
}
