import type { Db, Document } from 'mongodb';
import type { RetentionHoldRow } from './retention-holds.ts';
import { candidatesFilter, candidatesHint, KINDS, type Selection } from './retention-selection.ts';

/** What a run would delete, counted before it deletes anything. */
export interface CandidateCount {
  readonly candidates: number;
  /** When the oldest of them ended. */
  readonly oldestAt: Date | null;
}

/**
 * Counts the records that a cutoff lets go: old enough, at their end, not held, and for events without a delivery.
 * What is owed meanwhile, or held, is decided again by each page; this is the measure of the work.
 */
export async function countCandidates(db: Db, selection: Selection, cutoff: Date): Promise<CandidateCount> {
  const { collection, terminal } = KINDS[selection.kind];
  const stages: Document[] = [
    { $match: candidatesFilter(selection, cutoff) },
    ...(await notHeld(db, selection)),
  ];
  // An erasure's deliveries go first, so their events count.
  if (selection.kind === 'events' && selection.shipmentId === null) stages.push(...WITHOUT_DELIVERIES);
  const [found] = await db
    .collection(collection)
    .aggregate<{ candidates: number; oldestAt: Date }>(
      [...stages, { $group: { _id: null, candidates: { $sum: 1 }, oldestAt: { $min: `$${terminal}` } } }],
      candidatesHint(selection),
    )
    .toArray();
  return { candidates: found?.candidates ?? 0, oldestAt: found?.oldestAt ?? null };
}

async function notHeld(db: Db, { kind }: Selection): Promise<Document[]> {
  const held = (
    await db
      .collection<RetentionHoldRow>('retention_holds')
      .find({ releasedAt: { $exists: false } }, { projection: { _id: 1 } })
      .toArray()
  ).map(({ _id }) => _id);
  if (held.length === 0 || kind === 'runs') return [];
  if (kind === 'dead-letters') return [{ $match: { key: { $nin: held.map((id) => Buffer.from(id)) } } }];
  return [{ $match: { shipmentId: { $nin: held } } }];
}

/** Index of the look-up: `identity`. */
const WITHOUT_DELIVERIES: readonly Document[] = [
  {
    $lookup: {
      from: 'deliveries',
      let: { version: '$eventVersion' },
      localField: 'shipmentId',
      foreignField: 'shipmentId',
      pipeline: [
        { $match: { $expr: { $eq: ['$eventVersion', '$$version'] } } },
        { $limit: 1 },
        { $project: { _id: 1 } },
      ],
      as: 'left',
    },
  },
  { $match: { left: { $size: 0 } } },
];
