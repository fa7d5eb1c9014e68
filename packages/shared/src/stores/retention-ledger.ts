import type { Collection, Db, Filter } from 'mongodb';
import type { LedgerQuery } from '../contracts/retention.ts';
import { RETENTION_KINDS } from '../domain/retention.ts';
import {
  ChainCheck,
  type ChainClosing,
  type ChainedEntry,
  type ChainFault,
  chainStart,
  isCount,
  isUnaltered,
  type LedgerKey,
  recordHash,
  shipmentHash,
} from '../domain/retention-ledger.ts';
import { hintOf } from './indexes.ts';
import { type Page, pageOf } from './page.ts';
import type { RetentionRunRow } from './retention-runs.ts';
import type { RetentionShardRow } from './retention-shards.ts';

/** One deleted record. Entries are only added, and outlive what they speak of. */
export interface RetentionLedgerRow extends ChainedEntry {
  /** Its place: `<run id>/<shard>/<seq>`, the numbers padded so that ids sort as the chain runs. */
  _id: string;
}

export interface Verification {
  readonly runId: string;
  /** Whether the run has ended; one under way is checked as far as it has come. */
  readonly finished: boolean;
  readonly verified: boolean;
  /** What the run says it deleted, and the entries that were found. */
  readonly deleted: number;
  readonly entries: number;
  readonly faults: ChainFault[];
}

/** Most faults that a verification lists: the first ones say where to look. */
const MAX_FAULTS = 100;
/** As many as the numbers in the ids have room for. */
const MAX_SHARDS = 1_000;

export const ledgerRowId = (runId: string, shard: number, seq: number): string =>
  `${runId}/${String(shard).padStart(3, '0')}/${String(seq).padStart(10, '0')}`;

export class RetentionLedgerStore {
  readonly #ledger: Collection<RetentionLedgerRow>;
  readonly #shards: Collection<RetentionShardRow>;
  readonly #runs: Collection<RetentionRunRow>;
  readonly #key: LedgerKey;

  /** @param ledgerKey hashes the ids that callers give in clear. */
  constructor(db: Db, ledgerKey: LedgerKey) {
    this.#ledger = db.collection('retention_ledger');
    this.#shards = db.collection('retention_shards');
    this.#runs = db.collection('runs');
    this.#key = ledgerKey;
  }

  /** In the order of the chains. Index: `operation`, `shipment`, or the id for a run. The cursor is the last id. */
  async list({ recordId, shipmentId, runId, cursor, limit }: LedgerQuery): Promise<Page<RetentionLedgerRow>> {
    const clauses: Filter<RetentionLedgerRow>[] = [];
    if (recordId !== undefined) clauses.push(ofRecords(this.#hashesOf(recordId)));
    if (shipmentId !== undefined) clauses.push({ shipmentHash: shipmentHash(this.#key, shipmentId) });
    if (runId !== undefined) clauses.push({ _id: below(`${runId}/`) });
    if (cursor !== undefined) clauses.push({ _id: { $gt: cursor } });
    const index = recordId !== undefined ? 'operation' : shipmentId !== undefined ? 'shipment' : null;
    const hint = index === null ? { _id: 1 as const } : hintOf('retention_ledger', index);
    const rows = await this.#ledger
      .find({ $and: clauses }, { hint })
      .sort({ _id: 1 })
      .limit(limit + 1)
      .toArray();
    return pageOf(rows, limit, (row) => row._id);
  }

  /** The ledger does not say in clear what kind a record was, so its id is looked for under every kind. */
  #hashesOf(recordId: string): string[] {
    return RETENTION_KINDS.map((kind) => recordHash(this.#key, kind, recordId));
  }

  /** What is known of a delivery that is gone, newest first. Index: `operation`. */
  async ofDelivery(id: string): Promise<RetentionLedgerRow[]> {
    return this.#ledger
      .find(ofRecords([recordHash(this.#key, 'deliveries', id)]))
      .sort({ deletedAt: -1 })
      .toArray();
  }

  /**
   * What speaks against an entry; null: it stands at its place, between its neighbours, in the chain of its run. Cheap,
   * and no verification of the run: an entry that was copied or made up shows, a chain that was made up whole does not.
   */
  async faultOf(entry: RetentionLedgerRow): Promise<string | null> {
    const { _id, runId, shard, seq, previous, hash } = entry;
    if (!isUnaltered(entry)) return `entry ${_id} does not have the content that its hash was made of`;
    const notOf = `entry ${_id} is no entry of the run ${runId} that it names`;
    if (_id !== ledgerRowId(runId, shard, seq)) return notOf;
    // Before the neighbours: an entry that is not the last by now has one after it.
    const [run, row] = await Promise.all([
      this.#runs.findOne({ _id: runId, policyId: { $exists: true } }),
      this.#shards.findOne({ runId, shard }),
    ]);
    if (!run) return notOf;
    const [before, after] = await Promise.all([
      seq === 1 ? null : this.#ledger.findOne({ _id: ledgerRowId(runId, shard, seq - 1) }),
      this.#ledger.findOne({ _id: ledgerRowId(runId, shard, seq + 1) }),
    ]);
    if (previous !== (seq === 1 ? chainStart(run, shard) : before?.hash))
      return `entry ${_id} does not follow the one before it`;
    const closing = closingsOf(run.chains).find((chain) => chain.shard === shard);
    const follows = after ? after.previous : (closing?.head ?? row?.head);
    return follows === hash ? null : `entry ${_id} is not followed by what its chain goes on or ends with`;
  }

  /** Those of some events that were deleted. One query, however many. Index: `operation`. */
  async deletedAmong(eventIds: readonly string[]): Promise<Set<string>> {
    if (eventIds.length === 0) return new Set();
    const byHash = new Map(eventIds.map((id) => [recordHash(this.#key, 'events', id), id]));
    const rows = await this.#ledger
      .find(ofRecords([...byHash.keys()]), { projection: { _id: 0, recordHash: 1 } })
      .toArray();
    return new Set(rows.flatMap((row) => byHash.get(row.recordHash) ?? []));
  }

  /**
   * Recomputes a run's chains from the first entry to the last and compares all counts. Whatever stands in the database
   * is answered with a fault, and never with an error. @returns null: no such run.
   */
  async verify(runId: string): Promise<Verification | null> {
    const run = await this.#runs.findOne({ _id: runId, policyId: { $exists: true } });
    if (!run) return null;
    const rows = await this.#shards.find({ runId }).sort({ shard: 1 }).toArray();
    const faults: ChainFault[] = [];
    const count = (value: unknown, what: string): number => {
      if (isCount(value)) return value;
      faults.push(runFault(`${what} is no count`));
      return 0;
    };
    const runDeleted = count(run.deleted, 'what the run says it deleted');
    const shards = Math.min(count(run.shards, 'how many shards the run has'), MAX_SHARDS);
    const closings = new Map(closingsOf(run.chains).map((chain) => [chain.shard, chain]));
    let entries = 0;
    let inShards = 0;
    for (let shard = 0; shard < shards; shard++) {
      const check = new ChainCheck(run, shard);
      const chain = this.#ledger
        .find({ _id: below(ledgerRowId(runId, shard, 0).slice(0, -10)) })
        .sort({ _id: 1 });
      for await (const entry of chain) check.next(entry);
      const row = rows.find((found) => found.shard === shard);
      // The run has a copy of how its chains ended, so that a shard whose row is gone is checked all the same.
      check.end(closings.get(shard) ?? closingsOf([{ ...row?.closing, shard }])[0] ?? null);
      entries += check.count;
      inShards += row ? count(row.deleted, `what shard ${shard} says it deleted`) : 0;
      faults.push(...check.faults);
    }
    const finished = run.finishedAt !== undefined;
    const unclosed = Array.from({ length: shards }, (_, shard) => shard).filter((n) => !closings.has(n));
    // One that was given up before all its shards were made has deleted nothing.
    const neverBegan = run.stoppedBecause === 'abandoned' && run.chains === undefined && entries === 0;
    if (finished && unclosed.length > 0 && !neverBegan)
      faults.push(runFault(`the run does not say how the chains of its shards ${unclosed.join(', ')} ended`));
    const [byPlace, byRun] = await Promise.all([
      this.#ledger.countDocuments({ _id: below(`${runId}/`) }),
      // Index: `run`. An entry that stands elsewhere says so as well.
      this.#ledger.countDocuments({ runId }, { hint: hintOf('retention_ledger', 'run') }),
    ]);
    if (byPlace !== entries)
      faults.push(runFault(`the run has ${byPlace} entries, ${entries} of them in its shards`));
    if (byRun !== byPlace)
      faults.push(
        runFault(
          `${byRun} entries say that they are of the run; ${byPlace} stand in the places of its entries`,
        ),
      );
    if (finished && runDeleted !== entries)
      faults.push(
        runFault(`the run says that ${runDeleted} records were deleted; ${entries} entries were found`),
      );
    if (inShards !== (finished ? runDeleted : entries))
      faults.push(
        runFault(`its shards say that ${inShards} records were deleted; ${entries} entries were found`),
      );
    return {
      runId,
      finished,
      verified: faults.length === 0,
      deleted: finished ? runDeleted : inShards,
      entries,
      faults: faults.slice(0, MAX_FAULTS),
    };
  }
}

/** Those of some closings that can be compared with. */
function closingsOf(stored: unknown): ({ shard: number } & ChainClosing)[] {
  if (!Array.isArray(stored)) return [];
  return stored.filter(
    (closing) => isCount(closing?.shard) && isCount(closing?.count) && typeof closing?.head === 'string',
  );
}

/** A record's entries: operation keys begin with its hash, which holds no character that a pattern would read. */
function ofRecords(hashes: readonly string[]): Filter<RetentionLedgerRow> {
  return { operationKey: { $in: hashes.map((hash) => new RegExp(`^${hash}/`)) } };
}

const runFault = (message: string): ChainFault => ({
  shard: -1,
  seq: 0,
  operationKey: null,
  fault: 'closing',
  message,
});

/** Ids that begin with a prefix that ends in a slash: "0" is the character after it. */
function below(prefix: string): { $gte: string; $lt: string } {
  return { $gte: prefix, $lt: `${prefix.slice(0, -1)}0` };
}
