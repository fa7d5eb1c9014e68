import { randomUUID } from 'node:crypto';
import type { Collection, Db, Filter } from 'mongodb';
import type { AuditQuery, Role } from '../contracts/http-api.ts';
import { newestPage, type Page } from './page.ts';

/** A change that somebody asked for, known before it is made. */
export interface Intent {
  actor: { key: string; role: Role };
  /** The operationId of the call. */
  action: string;
  /** What it is done to, such as `subscribers/clinic`. */
  target: string;
  /** Of the path and the query, as they were given. A body is never kept: it may hold secrets. */
  parameters: Record<string, unknown>;
}

/** How it went. `failed`: the answer was 5xx, and the change may have been made. */
export interface AuditOutcome {
  outcome: 'done' | 'refused' | 'failed';
  status: number;
  /** Code of the problem it was answered with. */
  code: string | null;
  /** Versions of the target, where it has them. */
  before: number | null;
  after: number | null;
  /** What it turned out to be done to, where that had no name before. */
  target?: string;
}

export interface AuditRow extends Intent, Partial<Omit<AuditOutcome, 'target'>> {
  _id: string;
  at: Date;
  /** Left out: the process ended in between, and whether the change was made only the target can tell. */
  endedAt?: Date;
}

/**
 * Who changed what. An entry is written before the change, so that none is made without one, and told its outcome
 * once, after it. Nothing else is ever changed about an entry, and none is removed.
 */
export class AuditLogStore {
  readonly #log: Collection<AuditRow>;

  constructor(db: Db) {
    this.#log = db.collection('audit_log');
  }

  /** @returns the entry's id. Once it is there the change may be made. */
  async begin(intent: Intent, now: Date): Promise<string> {
    const _id = randomUUID();
    await this.#log.insertOne({ _id, at: now, ...intent });
    return _id;
  }

  async end(id: string, outcome: AuditOutcome, now: Date): Promise<void> {
    await this.#log.updateOne(
      { _id: id, endedAt: { $exists: false } },
      { $set: { ...outcome, endedAt: now } },
    );
  }

  /** Newest first. Indexes: `newest_of_target`, `newest_of_actor`, `newest_of_action`, without any of them `newest`. */
  list({ target, actor, action, from, to, cursor, limit }: AuditQuery): Promise<Page<AuditRow>> {
    const clauses: Filter<AuditRow>[] = [];
    if (target !== undefined) clauses.push({ target });
    if (actor !== undefined) clauses.push({ 'actor.key': actor });
    if (action !== undefined) clauses.push({ action });
    if (from !== undefined) clauses.push({ at: { $gte: from } });
    if (to !== undefined) clauses.push({ at: { $lt: to } });
    return newestPage(this.#log, clauses, 'at', cursor, limit);
  }
}
