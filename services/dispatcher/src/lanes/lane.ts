import type { LaneGrant } from '@waybill/shared/stores/lanes';

/** Failures in a row, and how long they must have gone on in milliseconds, before the breaker opens. */
const BREAKER_FAILURES = 20;
const BREAKER_AFTER_MS = 5_000;
/** How soon slots that others hold are asked for again, in milliseconds. */
const ASK_AGAIN_MS = 250;

/**
 * One subscriber as this worker sees it: how many requests are under way, how many it may have, and whether rows wait
 * for it. A row is claimed only when it can be sent at once, so no lease runs while its row stands in line.
 *
 * Times are `performance.now()` milliseconds.
 */
export class Lane {
  readonly subscriberId: string;
  /** Slots taken: requests under way and claims being made. */
  #taken = 0;
  #slots = 0;
  #tokens: number | null = null;
  #grantedUntil = 0;
  #askAgainAt = 0;
  #blockedUntil = 0;
  #shared = false;
  #probe = false;
  #waiting = false;
  #refilling = false;
  #failuresInARow = 0;
  #failingSince = 0;

  constructor(subscriberId: string) {
    this.subscriberId = subscriberId;
  }

  get taken(): number {
    return this.#taken;
  }

  get waiting(): boolean {
    return this.#waiting;
  }

  get idle(): boolean {
    return this.#taken === 0 && !this.#waiting && !this.#refilling;
  }

  /** The breaker is half open: what is under way is a probe. */
  get probing(): boolean {
    return this.#probe;
  }

  /** Whether the grant must be asked for (again) before `wanted` requests can begin. */
  needsGrant(wanted: number, concurrency: number, now: number): boolean {
    if (now < this.#blockedUntil) return false;
    if (now >= this.#grantedUntil) return true;
    if (this.#tokens !== null && this.#tokens < wanted) return true;
    // Short of slots because others hold them: they are asked for again now and then, not for every row.
    return this.#slots < concurrency && this.#slots - this.#taken < wanted && now >= this.#askAgainAt;
  }

  grant(grant: LaneGrant, until: number, now: number): void {
    this.#slots = grant.slots;
    this.#shared = grant.shared;
    this.#probe = grant.probe;
    this.#grantedUntil = until;
    this.#askAgainAt = now + ASK_AGAIN_MS;
    this.#tokens = grant.tokens === null ? null : (this.#tokens ?? 0) + grant.tokens;
    this.#blockedUntil = grant.retryInMs !== null && this.free === 0 ? now + grant.retryInMs : 0;
    // Others were given commands for this subscriber too and may have had no slot for them.
    if (grant.shared) this.#waiting = true;
  }

  /** Requests that may begin now. */
  get free(): number {
    return Math.max(0, Math.min(this.#slots - this.#taken, this.#tokens ?? Number.POSITIVE_INFINITY));
  }

  /** Milliseconds after which asking again may help. */
  retryIn(now: number): number {
    return Math.max(0, this.#blockedUntil - now);
  }

  /** Takes up to `wanted` slots. @returns how many it got. */
  reserve(wanted: number, now: number): number {
    const granted = now < this.#grantedUntil ? Math.min(wanted, this.free) : 0;
    this.#taken += granted;
    if (this.#tokens !== null) this.#tokens -= granted;
    return granted;
  }

  /** Gives slots back. @param unused of them, no request was begun. */
  release(slots: number, unused: boolean): void {
    this.#taken -= slots;
    if (unused && this.#tokens !== null) this.#tokens += slots;
  }

  /** Rows were left unclaimed because no slot was free; they are to be fetched when some are. */
  leaveWaiting(): void {
    this.#waiting = true;
  }

  /**
   * Whether it is time to fetch waiting rows: when half the slots are free, so that rows come in batches and the rest
   * keeps the subscriber busy meanwhile. One fetch at a time.
   */
  beginRefill(): boolean {
    if (!this.#waiting || this.#refilling || (this.#taken > 0 && this.#taken > this.#slots / 2)) return false;
    this.#refilling = true;
    this.#waiting = false;
    return true;
  }

  /** @param more whether rows may have been left. */
  endRefill(more: boolean): void {
    this.#refilling = false;
    if (more || (this.#shared && this.#taken > 0)) this.#waiting = true;
  }

  /** Notes how an attempt went. @returns whether the breaker has to open, or can close. */
  note(failed: boolean, now: number): 'trip' | 'close' | null {
    if (!failed) {
      this.#failuresInARow = 0;
      return this.#probe ? 'close' : null;
    }
    if (this.#failuresInARow === 0) this.#failingSince = now;
    this.#failuresInARow += 1;
    const failing = this.#failuresInARow >= BREAKER_FAILURES && now - this.#failingSince >= BREAKER_AFTER_MS;
    if (!failing && !this.#probe) return null;
    return 'trip';
  }

  /** The grant is void: what is known of the subscriber has changed. */
  forgetGrant(): void {
    this.#grantedUntil = 0;
    this.#probe = false;
  }
}
