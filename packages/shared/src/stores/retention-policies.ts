import type { Collection, Db } from 'mongodb';
import type { PolicyInput } from '../contracts/retention-policy.ts';
import { insertMissing } from './duplicate-keys.ts';
import { type Page, pageOf } from './page.ts';

/** One version of a policy. Versions are only added: a run names the one it followed. */
export interface RetentionPolicyRow extends PolicyInput {
  /** `<policy id>/<version>`. */
  _id: string;
  policyId: string;
  version: number;
  createdAt: Date;
  /** Name of the API key that put it. */
  createdBy: string;
  /** What a run counted that observed the same rule: what enforcing was expected to delete. */
  observed: { runId: string; candidates: number; at: Date } | null;
}

export class RetentionPolicyStore {
  readonly #policies: Collection<RetentionPolicyRow>;

  constructor(db: Db) {
    this.#policies = db.collection('retention_policies');
  }

  /**
   * Adds the version that follows `previous`. The unique id decides between two that are put at the same instant.
   *
   * @param previous the newest version the caller knows of; 0 for none.
   * @returns null if somebody else added a version meanwhile: look again.
   */
  async add(
    policyId: string,
    previous: number,
    input: PolicyInput,
    observed: RetentionPolicyRow['observed'],
    by: string,
    now: Date,
  ): Promise<RetentionPolicyRow | null> {
    const version = previous + 1;
    const row: RetentionPolicyRow = {
      _id: `${policyId}/${version}`,
      policyId,
      version,
      ...input,
      createdAt: now,
      createdBy: by,
      observed,
    };
    const existing = await insertMissing(this.#policies, [row]);
    return existing.size === 0 ? row : null;
  }

  /** Newest first. Index: `version`. */
  versions(policyId: string): Promise<RetentionPolicyRow[]> {
    return this.#policies.find({ policyId }).sort({ version: -1 }).toArray();
  }

  /** The newest version. Index: `version`. */
  current(policyId: string): Promise<RetentionPolicyRow | null> {
    return this.#policies.findOne({ policyId }, { sort: { version: -1 } });
  }

  version(policyId: string, version: number): Promise<RetentionPolicyRow | null> {
    return this.#policies.findOne({ _id: `${policyId}/${version}` });
  }

  /** The newest version of each policy. There are few. Index: `version`. */
  allCurrent(): Promise<RetentionPolicyRow[]> {
    return this.#policies
      .aggregate<RetentionPolicyRow>([
        { $sort: { policyId: 1, version: -1 } },
        { $group: { _id: '$policyId', newest: { $first: '$$ROOT' } } },
        { $replaceWith: '$newest' },
        { $sort: { policyId: 1 } },
      ])
      .toArray();
  }

  /** The newest version of each, by id, ascending. The cursor is the last id of the page before. */
  async list(cursor: string | undefined, limit: number): Promise<Page<RetentionPolicyRow>> {
    const rows = (await this.allCurrent()).filter(
      ({ policyId }) => cursor === undefined || policyId > cursor,
    );
    return pageOf(rows.slice(0, limit + 1), limit, (row) => row.policyId);
  }
}
