import type { ClientSession, Collection, Db } from 'mongodb';
import { TRANSITIONS } from '../domain/transitions.ts';
import type { DeliveryRow } from './deliveries.ts';
import { insertMissing, isDuplicateKey } from './duplicate-keys.ts';

/** Most rows that one transaction makes: it stays far below the time that MongoDB lets one live. */
const MAX_TOGETHER = 1_000;

type Chain = Pick<DeliveryRow, 'shipmentId' | 'subscriberId'>;

/** What fan-out knows of a new delivery. */
export type NewDelivery = Chain &
  Pick<
    DeliveryRow,
    | '_id'
    | 'eventVersion'
    | 'status'
    | 'runId'
    | 'traceId'
    | 'traceHeaders'
    | 'previousVersion'
    | 'chain'
    | 'payload'
  >;

export interface ChainEnd extends Chain {
  readonly chain: number;
  readonly eventVersion: number;
  /** Every version in the chain. */
  readonly versions: readonly number[];
}

/** Names the chain of a shipment's versions for one subscriber. Subscriber ids hold no colon. */
export const chainOf = ({ shipmentId, subscriberId }: Chain): string => `${subscriberId}:${shipmentId}`;

/**
 * The chains that deliveries stand in: for each shipment and subscriber, the versions in the order they were made. A
 * unique index gives each place once, so of two handlers that both go on from the same end one has to read again.
 */
export class ChainStore {
  readonly #deliveries: Collection<DeliveryRow>;
  readonly #sequences: Collection<{ _id: string; last: number }>;
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
    this.#deliveries = db.collection('deliveries');
    this.#sequences = db.collection('sequences');
  }

  /** The end of each chain of some shipments: the last version made for each subscriber. Index: `identity`. */
  async ends(shipmentIds: readonly string[]): Promise<Map<string, ChainEnd>> {
    const ends = await this.#deliveries
      .aggregate<Omit<ChainEnd, keyof Chain> & { _id: Chain }>([
        { $match: { shipmentId: { $in: shipmentIds } } },
        {
          $group: {
            _id: { shipmentId: '$shipmentId', subscriberId: '$subscriberId' },
            end: {
              $top: { sortBy: { chain: -1 }, output: { chain: '$chain', eventVersion: '$eventVersion' } },
            },
            versions: { $push: '$eventVersion' },
          },
        },
        { $project: { versions: 1, chain: '$end.chain', eventVersion: '$end.eventVersion' } },
      ])
      .toArray();
    return new Map(ends.map(({ _id, ...end }) => [chainOf(_id), { ..._id, ...end }]));
  }

  /**
   * Makes rows, each at its place, those of a chain in the order given. Rows that are their chain's only one here are
   * one unordered write. Where a chain gets several, or the subscriber asked for running numbers, rows and numbers are
   * one transaction: no version names one before it that has another place, no number is missing or given twice.
   *
   * They are made queued, with the command that is to follow as the reason to look again: one write for both entries of
   * the history. A command that is never sent comes again with the batch, or at the latest after `visibilityMs`.
   *
   * @param numbered subscribers that asked for running numbers.
   * @returns false if somebody else took a place or made a row meanwhile. What was made stays; read the ends again for
   * the rest.
   */
  async append(
    rows: readonly NewDelivery[],
    numbered: ReadonlySet<string>,
    now: Date,
    visibilityMs: number,
  ): Promise<boolean> {
    const chains = Map.groupBy(rows, chainOf);
    const isAlone = (row: NewDelivery) =>
      !numbered.has(row.subscriberId) && chains.get(chainOf(row))?.length === 1;
    const made = rows.map((row) => queued(row, now, visibilityMs));
    const taken = await insertMissing(this.#deliveries, made.filter(isAlone));
    const together = made.filter((row) => !isAlone(row));
    for (let from = 0; from < together.length; from += MAX_TOGETHER) {
      const part = together.slice(from, from + MAX_TOGETHER);
      if (!(await this.#appendTogether(part, numbered))) return false;
    }
    return taken.size === 0;
  }

  /** All of them or none. @returns false: none, a place or a row was taken. */
  async #appendTogether(rows: readonly DeliveryRow[], numbered: ReadonlySet<string>): Promise<boolean> {
    try {
      await this.#db.client.withSession((session) =>
        session.withTransaction(async () => {
          const numbers = await this.#drawNumbers(
            rows.filter(({ subscriberId }) => numbered.has(subscriberId)),
            session,
          );
          await this.#deliveries.insertMany(
            rows.map((row) => {
              const sequence = numbers.get(row._id);
              return sequence === undefined ? row : { ...row, sequence };
            }),
            { session },
          );
        }),
      );
      return true;
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  }

  /** @returns the next numbers of their subscribers, by row id. */
  async #drawNumbers(rows: readonly NewDelivery[], session: ClientSession): Promise<Map<string, number>> {
    const numbers = new Map<string, number>();
    for (const [subscriberId, group] of Map.groupBy(rows, (row) => row.subscriberId)) {
      const counter = await this.#sequences.findOneAndUpdate(
        { _id: subscriberId },
        { $inc: { last: group.length } },
        { upsert: true, returnDocument: 'after', session },
      );
      const first = (counter?.last ?? group.length) - group.length + 1;
      for (const [index, row] of group.entries()) numbers.set(row._id, first + index);
    }
    return numbers;
  }
}

function queued(row: NewDelivery, now: Date, visibilityMs: number): DeliveryRow {
  const entry = { at: now, cause: `run:${row.runId}`, reason: null };
  return {
    ...row,
    state: TRANSITIONS.enqueue.to,
    reason: null,
    dueAt: new Date(now.getTime() + visibilityMs),
    tried: false,
    attemptCount: 0,
    failures: 0,
    attempts: [],
    transitions: [
      { ...entry, from: null, to: 'pending' },
      { ...entry, from: 'pending', to: TRANSITIONS.enqueue.to },
    ],
    createdAt: now,
  };
}
