import { expect } from 'vitest';
import type { Api } from './api.ts';
import { eventually } from './waiting.ts';

interface Policy {
  readonly kind?: string;
  readonly states?: readonly string[];
  readonly maxAge: string;
  readonly pageSize?: number;
}

export interface RetentionRun {
  readonly runId: string;
  readonly policyId: string;
  readonly candidates: number | null;
  readonly deleted: number;
  readonly pages: number;
  readonly conflicts: number;
  readonly cutoff: string;
  readonly finishedAt: string | null;
  readonly stoppedBecause: string | null;
}

export interface Verification {
  readonly verified: boolean;
  readonly entries: number;
  readonly deleted: number;
  readonly faults: readonly { fault: string; seq: number; operationKey: string | null }[];
}

/** Slots that no other test has fired: one after the other, all of them past. */
let slots = 0;

/** Retention as an operator uses it. */
export class Retention {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Fires a slot: a new one, unless one is given. @returns the runs it made. */
  async tick(slot = new Date(Date.UTC(2026, 0, 1) + ++slots * 1_000)): Promise<string[]> {
    const path = `/v1/ticks/retention?slot=${slot.toISOString()}`;
    const { status, body } = await this.#api.call<{ runIds: string[] }>('operator', 'POST', path);
    expect(status).toBe(200);
    return body.runIds;
  }

  /** Puts a policy as its rules want it: observes once, then enforces. */
  async enforce(id: string, policy: Policy): Promise<void> {
    const path = `/v1/retention/policies/${id}`;
    expect((await this.#api.call('admin', 'PUT', path, { ...policy, mode: 'observe' })).status).toBe(201);
    await this.tick();
    expect((await this.#api.call('admin', 'PUT', path, { ...policy, mode: 'enforce' })).status).toBe(200);
  }

  async run(runId: string): Promise<RetentionRun> {
    const { status, body } = await this.#api.call<RetentionRun>(
      'operator',
      'GET',
      `/v1/retention/runs/${runId}`,
    );
    expect(status).toBe(200);
    return body;
  }

  /** The newest run of a policy, once it has ended. */
  ended(policyId: string, runIds: readonly string[], withinMs = 60_000): Promise<RetentionRun> {
    const runId = runIds.find((id) => id.includes(`.${policyId}.`)) ?? '';
    return eventually(async () => {
      const run = await this.run(runId);
      expect(run.finishedAt).not.toBeNull();
      return run;
    }, withinMs);
  }

  async verify(runId: string): Promise<Verification> {
    const path = `/v1/retention/runs/${runId}/verification`;
    return (await this.#api.call<Verification>('operator', 'GET', path)).body;
  }
}
