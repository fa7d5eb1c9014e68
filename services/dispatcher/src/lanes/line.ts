import type { Context } from '@opentelemetry/api';
import type { Candidate } from '@waybill/shared/stores/leases';

/** A row to be claimed, with the story of the command that named it, if one did. */
export interface Offered extends Candidate {
  readonly context?: Context;
  /** Nobody has tried it. */
  readonly isNew?: boolean;
}

/** Rows that one lane remembers at most. */
export const MAX_IN_LINE = 2_000;

/**
 * New rows that commands named while no slot was free, first come, first served: what is remembered here need not be
 * looked for in the database. Only names: the claim decides, and a row that somebody else took meanwhile is passed over.
 * Retries have their share of the slots beside the line, from the database.
 *
 * When rows had to be left out, later ones are left out as well until the database was asked for all of them, so that
 * nobody overtakes for ever.
 */
export class Line {
  #rows: Offered[] = [];
  #leftOut = false;

  get length(): number {
    return this.#rows.length;
  }

  /** Whether others come before what is named now: they are in line, or were left out of it. */
  get goesFirst(): boolean {
    return this.#rows.length > 0 || this.#leftOut;
  }

  /**
   * Puts rows at the end.
   *
   * @param room for so many at most, in all that this worker remembers.
   */
  append(rows: readonly Offered[], room: number): void {
    const free = Math.min(room, MAX_IN_LINE - this.#rows.length);
    const kept = this.#leftOut ? 0 : Math.max(0, Math.min(rows.length, free));
    this.#rows.push(...rows.slice(0, kept));
    if (kept < rows.length) this.#leftOut = true;
  }

  /** New rows are known to wait in the database behind those in line. */
  leaveOut(): void {
    this.#leftOut = true;
  }

  /** Whether new rows wait in the database that are not in line. */
  get leftOut(): boolean {
    return this.#leftOut;
  }

  /** Takes the first ones out. */
  next(count: number): Offered[] {
    return this.#rows.splice(0, count);
  }

  /** Puts rows at the head: what `next` took out and could not be used, or what the database has waited for longest. */
  putBack(rows: readonly Offered[]): void {
    this.#rows.unshift(...rows);
  }

  /** Whoever calls it asks the database for what was left out. */
  forgetLeftOut(): void {
    this.#leftOut = false;
  }

  /** Forgets all of them; they are in the database. */
  clear(): void {
    this.#rows = [];
    this.#leftOut = false;
  }
}
