import { hash as digestOf } from 'node:crypto';
import {
  type Binary,
  BSON,
  type ClientSession,
  type Collection,
  type Db,
  type Document,
  MongoError,
} from 'mongodb';
import {
  chainEntries,
  type LedgerEntry,
  type LedgerKey,
  operationKey,
  recordHash,
  shipmentHash,
} from '../domain/retention-ledger.ts';
import { isWriteConflict } from './availability.ts';
import { RetentionHoldStore } from './retention-holds.ts';
import { ledgerRowId, type RetentionLedgerRow } from './retention-ledger.ts';
import type { RetentionRunRow } from './retention-runs.ts';
import {
  type AgedRecord,
  candidatesFilter,
  candidatesHint,
  deleteBelongings,
  KINDS,
  neededRecords,
  type Selection,
  type SweepPosition,
} from './retention-selection.ts';
import type { RetentionShardRow } from './retention-shards.ts';

/** How often a commit is asked for again whose answer was lost. The server answers the same again. */
const MAX_COMMITS = 5;

/** Left as bytes: how long a history is decides whether there is more of it in the archive, not what it says. */
const HISTORY = { attempts: true, transitions: true };

export interface PageRequest {
  readonly run: RetentionRunRow;
  readonly shard: Pick<RetentionShardRow, '_id' | 'shard' | 'selection'>;
  /** Where the page before ended; null for the beginning. Only saves looking again: a page may begin anywhere. */
  readonly after: SweepPosition | null;
  readonly limit: number;
  /** Records that were found to be in conflict with the ledger. */
  readonly except: ReadonlySet<string>;
  /** Subscribers that take the versions of a shipment in order. */
  readonly orderedSubscribers: ReadonlySet<string>;
  /** The database's time. */
  readonly now: Date;
}

export interface PageResult {
  /** Somebody closed the shard: nothing was done. */
  readonly closed: boolean;
  readonly deleted: number;
  /** Candidates that stay for now: held, or needed by others. */
  readonly kept: number;
  /** Where the next page begins; null when this was the last. */
  readonly next: SweepPosition | null;
}

/** The ledger has an entry for a record that is there: it was deleted and came back, under the very same operation. */
export class LedgerConflictError extends Error {
  readonly recordId: string;
  readonly recordHash: string;

  constructor(recordId: string, hash: string, cause: unknown) {
    super('the ledger says that a record was deleted that is there', { cause });
    this.name = 'LedgerConflictError';
    this.recordId = recordId;
    this.recordHash = hash;
  }
}

/** Another sweeper has a page of the shard under way. It is over soon, or when its session is ended. */
export class ShardBusyError extends Error {
  constructor(cause: unknown) {
    super('another page of the shard is under way', { cause });
    this.name = 'ShardBusyError';
  }
}

/** Whose session last swept a shard. A row of its own, which no page's transaction touches. */
interface HolderRow {
  /** The shard's id. */
  _id: string;
  session: Binary;
}

/** Deletes candidates a page at a time. */
export class RetentionSweepStore {
  readonly #db: Db;
  readonly #shards: Collection<RetentionShardRow>;
  readonly #holders: Collection<HolderRow>;
  readonly #ledger: Collection<RetentionLedgerRow>;
  readonly #holds: RetentionHoldStore;
  readonly #key: LedgerKey;

  constructor(db: Db, ledgerKey: LedgerKey) {
    this.#db = db;
    this.#shards = db.collection('retention_shards');
    this.#holders = db.collection('retention_shard_holders');
    this.#ledger = db.collection('retention_ledger');
    this.#holds = new RetentionHoldStore(db);
    this.#key = ledgerKey;
  }

  /**
   * Begins to sweep a shard, and ends the session of whoever did so before: a sweeper that was killed within a page
   * leaves a transaction that would keep the page's records locked until the server gives it up, a minute later. One that
   * lives loses no more than the page it has under way, and makes it again.
   */
  async open(shardId: string): Promise<ClientSession> {
    const session = this.#db.client.startSession();
    const own = session.id?.id as Binary;
    const before = await this.#holders.findOneAndReplace(
      { _id: shardId },
      { session: own },
      { upsert: true, returnDocument: 'before' },
    );
    if (before) {
      // Where that is not allowed, the server's own limit holds.
      await this.#db
        .admin()
        .command({ killSessions: [{ id: before.session }] })
        .catch(() => {});
    }
    return session;
  }

  /** @param closed whether nobody will sweep the shard again. */
  async end(shardId: string, session: ClientSession, closed: boolean): Promise<void> {
    await session.endSession();
    if (closed) await this.#holders.deleteOne({ _id: shardId });
  }

  /**
   * One page, one transaction: the ledger entries of its records, the deletes, and how far the shard has come; all or
   * nothing. Candidates are looked for by age within the transaction, so nothing decides by what was true earlier: a
   * record that was opened again, or whose shipment is held, is not among them.
   *
   * @throws LedgerConflictError, which names the record; ShardBusyError; any error of the database, after which nothing
   * has happened, or the page is committed and looking again finds that.
   */
  async page(request: PageRequest, session: ClientSession): Promise<PageResult> {
    session.startTransaction({
      readConcern: { level: 'snapshot' },
      writeConcern: { w: 'majority', journal: true },
    });
    try {
      const result = await this.#sweep(request, session);
      if (result.deleted > 0) await commit(session);
      return result;
    } finally {
      // What was not committed is undone; the server does so by itself if it cannot be told.
      if (session.inTransaction()) await session.abortTransaction().catch(() => {});
    }
  }

  async #sweep(request: PageRequest, session: ClientSession): Promise<PageResult> {
    const { run, shard, limit, except } = request;
    // Before anything is read: from here on two sweepers of one shard, and a hold that is set, wait for each other.
    const progress = await this.#shards
      .findOneAndUpdate(
        { _id: shard._id, closing: null },
        { $inc: { pages: 1 } },
        { returnDocument: 'after', session },
      )
      .catch((error: unknown) => {
        throw isWriteConflict(error) ? new ShardBusyError(error) : error;
      });
    if (!progress) return { closed: true, deleted: 0, kept: 0, next: null };
    const { records, raw } = await this.#read(request, session);
    const last = records.at(-1);
    const next = records.length < limit || !last ? null : { terminalAt: last.terminalAt, id: last.id };
    const stays = await this.#staying(request, records, session);
    const going = records.filter(({ id }) => !stays.has(id) && !except.has(id));
    const result = { closed: false, deleted: going.length, kept: records.length - going.length, next };
    if (going.length === 0) return result;
    const entries = chainEntries(
      progress.head,
      going.map((record, index) =>
        this.#entryOf(request, record, raw.get(record) ?? Buffer.alloc(0), {
          seq: progress.deleted + index + 1,
          page: progress.pages,
        }),
      ),
    );
    await this.#log(run._id, shard.shard, entries, going, session);
    const { collection } = KINDS[shard.selection.kind];
    const { deletedCount } = await this.#db
      .collection<{ _id: string }>(collection)
      .deleteMany({ _id: { $in: going.map(({ id }) => id) } }, { session });
    if (deletedCount !== going.length)
      throw new Error(`${going.length} records were read and ${deletedCount} deleted in one transaction`);
    await deleteBelongings(this.#db, shard.selection.kind, going, session);
    await this.#shards.updateOne(
      { _id: shard._id },
      { $inc: { deleted: going.length }, $set: { head: entries.at(-1)?.hash ?? progress.head } },
      { session },
    );
    return result;
  }

  /** Index: that of the kind (`KINDS`), oldest first. */
  async #read(
    { run, shard: { selection }, after, limit }: PageRequest,
    session: ClientSession,
  ): Promise<{ records: AgedRecord[]; raw: Map<AgedRecord, Buffer> }> {
    const { collection, terminal, shipmentOf } = KINDS[selection.kind];
    const found = await this.#db
      .collection(collection)
      .find(candidatesFilter(selection, run.cutoff, after), {
        session,
        raw: true,
        batchSize: limit,
        ...candidatesHint(selection),
      })
      .sort({ [terminal]: 1, _id: 1 })
      .limit(limit)
      .toArray();
    const raw = new Map<AgedRecord, Buffer>();
    for (const bytes of found as unknown as Buffer[]) {
      const row = BSON.deserialize(bytes, { fieldsAsRaw: HISTORY }) as Document;
      raw.set({ id: String(row._id), terminalAt: row[terminal], shipmentId: shipmentOf(row), row }, bytes);
    }
    return { records: [...raw.keys()], raw };
  }

  async #staying(
    request: PageRequest,
    records: readonly AgedRecord[],
    session: ClientSession,
  ): Promise<Set<string>> {
    const shipments = new Set(records.flatMap(({ shipmentId }) => shipmentId ?? []));
    const held = await this.#holds.heldAmong([...shipments], session);
    const needed = await neededRecords(
      this.#db,
      request.shard.selection,
      records,
      request.orderedSubscribers,
      session,
    );
    const stays = records.filter(({ id, shipmentId }) => needed.has(id) || held.has(shipmentId ?? ''));
    return new Set(stays.map(({ id }) => id));
  }

  async #log(
    runId: string,
    shard: number,
    entries: ReturnType<typeof chainEntries>,
    records: readonly AgedRecord[],
    session: ClientSession,
  ): Promise<void> {
    const rows = entries.map((entry) => ({ _id: ledgerRowId(runId, shard, entry.seq), ...entry }));
    try {
      await this.#ledger.insertMany(rows, { session });
    } catch (error) {
      const index = duplicateIn(error);
      const record = index === null ? undefined : records[index];
      if (index === null || !record) throw error;
      throw new LedgerConflictError(record.id, entries[index]?.recordHash ?? '', error);
    }
  }

  #entryOf(
    { run, shard: { shard, selection }, now }: PageRequest,
    { id, terminalAt, shipmentId }: AgedRecord,
    bytes: Buffer,
    place: { seq: number; page: number },
  ): LedgerEntry {
    const hash = recordHash(this.#key, selection.kind, id);
    return {
      operationKey: operationKey(run.policyId, run.policyVersion, run.cutoff, hash),
      kind: selection.kind,
      recordHash: hash,
      shipmentHash: shipmentId === null ? null : shipmentHash(this.#key, shipmentId),
      reason: run.erasureId === undefined ? 'retention' : 'erasure',
      policyId: run.policyId,
      policyVersion: run.policyVersion,
      cutoff: run.cutoff,
      terminalAt,
      deletedAt: now,
      digest: digestOf('sha256', bytes, 'base64url'),
      runId: run._id,
      shard,
      ...place,
    };
  }

  /** What the ledger would call the record at a place. */
  hashOf({ kind }: Selection, { id }: SweepPosition): string {
    return recordHash(this.#key, kind, id);
  }

  /** The next candidate's place, to pass over it: it is what a page of one record cannot deal with. */
  async nextPlace(
    run: RetentionRunRow,
    selection: Selection,
    after: SweepPosition | null,
  ): Promise<SweepPosition | null> {
    const { collection, terminal } = KINDS[selection.kind];
    const row = await this.#db
      .collection(collection)
      .findOne(candidatesFilter(selection, run.cutoff, after), {
        projection: { [terminal]: 1 },
        sort: { [terminal]: 1, _id: 1 },
        ...candidatesHint(selection),
      });
    return row ? { terminalAt: row[terminal] as Date, id: String(row._id) } : null;
  }
}

/** @returns the index of the row that met a unique index; null if that is not what is wrong. */
function duplicateIn(error: unknown): number | null {
  if (!(error instanceof MongoError) || error.code !== 11_000) return null;
  const faults = [
    (error as { writeErrors?: { index: number } | { index: number }[] }).writeErrors ?? [],
  ].flat();
  return faults[0]?.index ?? 0;
}

async function commit(session: ClientSession): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await session.commitTransaction();
      return;
    } catch (error) {
      const unknown = error instanceof MongoError && error.hasErrorLabel('UnknownTransactionCommitResult');
      if (!unknown || tries >= MAX_COMMITS) throw error;
    }
  }
}
