import { randomBytes } from 'node:crypto';
import { CLOSED_STATES, type RetentionKind, type ShardRange } from '@waybill/shared/domain/retention';
import { ledgerKeyOf } from '@waybill/shared/domain/retention-ledger';
import { connectDatabase, type Database } from '@waybill/shared/stores/client';
import { type RetentionErasureRow, RetentionErasureStore } from '@waybill/shared/stores/retention-erasures';
import { RetentionHoldStore } from '@waybill/shared/stores/retention-holds';
import { type RetentionLedgerRow, RetentionLedgerStore } from '@waybill/shared/stores/retention-ledger';
import { type RetentionRunRow, RetentionRunStore } from '@waybill/shared/stores/retention-runs';
import { RetentionShardStore } from '@waybill/shared/stores/retention-shards';
import { RetentionSweepStore } from '@waybill/shared/stores/retention-sweep';
import { RetentionSweepingStore } from '@waybill/shared/stores/retention-sweeping';
import { SubscriberStore } from '@waybill/shared/stores/subscribers';
import { createLogger } from '@waybill/shared/telemetry/logger';
import { type OwnDatabase, ownDatabase } from '@waybill/shared/testing/database';
import { Sweep } from '../sweep.ts';

const ONE_SHARD: readonly ShardRange[] = [{ from: null, to: null }];

/** The parts of sweepers, as `main.ts` builds them, on a database of their own. */
export class Bench implements AsyncDisposable {
  readonly database: OwnDatabase;
  readonly ledgerKey = ledgerKeyOf(randomBytes(32));
  readonly runs: RetentionRunStore;
  readonly shards: RetentionShardStore;
  readonly holds: RetentionHoldStore;
  readonly ledger: RetentionLedgerStore;
  readonly sweeping: RetentionSweepingStore;
  readonly erasures: RetentionErasureStore;
  readonly #clients: Database[] = [];
  #made = 0;

  constructor(database: OwnDatabase) {
    const { db } = database;
    this.database = database;
    this.runs = new RetentionRunStore(db);
    this.shards = new RetentionShardStore(db);
    this.holds = new RetentionHoldStore(db);
    this.ledger = new RetentionLedgerStore(db, this.ledgerKey);
    this.sweeping = new RetentionSweepingStore(db);
    this.erasures = new RetentionErasureStore(db, this.ledgerKey);
  }

  /** A sweeper with a connection of its own. `name` is what the database knows it by. */
  async sweeper(name: string): Promise<Sweep> {
    const client = await connectDatabase(this.database.uri, name);
    this.#clients.push(client);
    const { db } = client;
    return new Sweep({
      retentionRuns: new RetentionRunStore(db),
      shards: new RetentionShardStore(db),
      pages: new RetentionSweepStore(db, this.ledgerKey),
      sweeping: new RetentionSweepingStore(db),
      subscribers: new SubscriberStore(db),
      erasures: new RetentionErasureStore(db, this.ledgerKey),
      clock: { now: () => new Date() },
      logger: createLogger('test', 'silent'),
    });
  }

  /** A run as the tick makes it, with its work items. */
  async run(
    cutoff: Date,
    fields: Partial<RetentionRunRow> & { kind?: RetentionKind } = {},
    ranges: readonly ShardRange[] = ONE_SHARD,
    shipmentId: string | null = null,
  ): Promise<RetentionRunRow> {
    this.#made += 1;
    const kind = fields.kind ?? 'deliveries';
    const states = fields.states ?? (kind === 'deliveries' ? CLOSED_STATES : []);
    const startedAt = new Date();
    const run = await this.runs.begin({
      _id: `retention.test.v1.${this.#made}`,
      job: 'retention',
      slot: startedAt,
      policyId: 'test',
      policyVersion: 1,
      maxAge: 'P30D',
      mode: 'enforce',
      pageSize: 10,
      cutoff,
      worker: 'tests',
      startedAt,
      candidates: 0,
      oldestAt: null,
      shards: ranges.length,
      deleted: 0,
      pages: 0,
      conflicts: 0,
      msPerRow: null,
      stoppedBecause: null,
      ...fields,
      kind,
      states,
    });
    await this.shards.make(
      run,
      ranges.map((range) => ({ kind, states, shipmentId, ...range })),
    );
    return run;
  }

  /** A try of an erasure, of the dead letters of its shipment. */
  eraseRun({ _id, shipmentId }: RetentionErasureRow): Promise<RetentionRunRow> {
    const fields = { kind: 'dead-letters', policyId: 'erasure', policyVersion: 0, erasureId: _id } as const;
    return this.run(new Date(Date.now() + 1), fields, ONE_SHARD, shipmentId ?? null);
  }

  /** Everything the ledger has, as it stands there. */
  entries(): Promise<RetentionLedgerRow[]> {
    return this.database.db
      .collection<RetentionLedgerRow>('retention_ledger')
      .find()
      .sort({ _id: 1 })
      .toArray();
  }

  /** Ids of what is left, sorted. */
  async ids(collection: string): Promise<string[]> {
    const rows = await this.database.db
      .collection<{ _id: string }>(collection)
      .find()
      .sort({ _id: 1 })
      .toArray();
    return rows.map(({ _id }) => _id);
  }

  async clear(): Promise<void> {
    const collections = await this.database.db.collections();
    await Promise.all(collections.map((collection) => collection.deleteMany({})));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()));
    await this.database[Symbol.asyncDispose]();
  }
}

export async function openBench(mongodbUri: string): Promise<Bench> {
  return new Bench(await ownDatabase(mongodbUri));
}
