import { type PolicyInput, policyId } from '@waybill/shared/contracts/retention-policy';
import { TOPICS } from '@waybill/shared/contracts/topics';
import { type Fault, ProblemError } from '@waybill/shared/domain/errors';
import { faultOfAge, sameRule } from '@waybill/shared/domain/retention';
import type { RetentionPolicyRow, RetentionPolicyStore } from '@waybill/shared/stores/retention-policies';
import type { RetentionRunStore } from '@waybill/shared/stores/retention-runs';

interface RetentionPoliciesDeps {
  readonly policies: RetentionPolicyStore;
  readonly retentionRuns: RetentionRunStore;
  readonly now: () => Date;
}

/** Decides which versions of a policy may be put. */
export class RetentionPolicies {
  readonly #deps: RetentionPoliciesDeps;

  constructor(deps: RetentionPoliciesDeps) {
    this.#deps = deps;
  }

  /**
   * Adds a version. One that enforces needs a run that observed the very same rule, and carries what that run counted.
   *
   * @throws ProblemError `invalid` with every fault; `not_observed`, saying what to do first.
   */
  async put(id: string, input: PolicyInput, by: string): Promise<RetentionPolicyRow> {
    const { policies, now } = this.#deps;
    const faults = faultsIn(id, input, now());
    if (faults.length > 0) throw new ProblemError('invalid', `policy ${id} was not changed`, faults);
    for (;;) {
      const versions = await policies.versions(id);
      const observed = await this.#observed(id, input, versions);
      if (input.mode === 'enforce' && !observed) {
        throw new ProblemError(
          'not_observed',
          `policy ${id} was not changed: put it with "mode": "observe" and let a run count what it would delete (POST /v1/ticks/retention), then put it again`,
        );
      }
      const row = await policies.add(id, versions[0]?.version ?? 0, input, observed, by, now());
      if (row) return row;
    }
  }

  async #observed(
    id: string,
    input: PolicyInput,
    versions: readonly RetentionPolicyRow[],
  ): Promise<RetentionPolicyRow['observed']> {
    const same = versions.filter((version) => sameRule(version, input)).map(({ version }) => version);
    const run = same.length === 0 ? null : await this.#deps.retentionRuns.lastCounted(id, same);
    return run && { runId: run._id, candidates: run.candidates ?? 0, at: run.startedAt };
  }
}

function faultsIn(id: string, input: PolicyInput, now: Date): Fault[] {
  const named = policyId.safeParse(id);
  const age = faultOfAge(input, now, TOPICS.statusEvents.retentionMs);
  return [
    ...(named.success ? [] : named.error.issues.map(({ message }) => ({ path: 'id', message }))),
    ...(age === null ? [] : [{ path: '$.maxAge', message: age }]),
  ];
}
