import type { LaneGrant } from '@waybill/shared/stores/lanes';
import { Line, type Offered } from './line.ts';

/** Failures in a row, and how long they must have gone on in milliseconds, before the breaker opens. */
const BREAKER_FAILURES = 20;
const BREAKER_AFTER_MS = 5_000;
/** How soon slots that others hold are asked for again, in milliseconds. */
const ASK_AGAIN_MS = 250;
/** Sends that were granted and not begun within this time, in milliseconds, are void: saved up they would be a burst. */
const SENDS_KEEP_MS = 50;

/** What a lane asks for: slots in all, and how many of them are in use. */
interface LaneAsk {
  readonly want: number;
  readonly inUse: number;
}

/**
 * One subscriber as this worker sees it: how many requests are under way, how many it may have, and whether rows wait
 * for it. A row is claimed only when it can be sent at once, so no lease runs while its row stands in line.
 *
 * Times are `performance.now()` milliseconds.
 */
export class Lane {
  readonly subscriberId: string;
  /** The rows that come next, as far as they are remembered. */
  readonly line = new Line();
  /** Slots taken: requests under way and claims being made. */
  #taken = 0;
  #slots = 0;
  /** While a grant is being asked for: what was under way and what is wanted then. */
  #asked: LaneAsk | null = null;
  #tokens: number | null = null;
  #tokensUntil = 0;
  #grantedUntil = 0;
  #holdsGrant = false;
  #askAgainAt = 0;
  /** When asking may help again, once nothing may begin. */
  #againAt = 0;
  #shared = false;
  #probe = false;
  #waiting = false;
  #retryIsNext = false;
  #usedSince = false;
  #refilling = false;
  #failuresInARow = 0;
  #failingSince = 0;

  constructor(subscriberId: string) {
    this.subscriberId = subscriberId;
  }

  get taken(): number {
    return this.#taken;
  }

  /** Rows are in line, or may be found in the database. */
  get waiting(): boolean {
    return this.#waiting || this.line.goesFirst;
  }

  get idle(): boolean {
    return this.#taken === 0 && !this.waiting && !this.#refilling;
  }

  /** The breaker is half open: what is under way is a probe. */
  get probing(): boolean {
    return this.#probe;
  }

  /** It asked for a grant and gave none back since: others may be short of it, also when it is void here. */
  get holdsGrant(): boolean {
    return this.#holdsGrant;
  }

  /** A grant is being asked for: nothing begins beyond what is under way, for it may be less than the one before. */
  get asking(): boolean {
    return this.#asked !== null;
  }

  /** Whether the grant must be asked for (again) before `sends` requests can begin, with slots for `wanted`. */
  needsGrant(wanted: number, concurrency: number, now: number, sends = wanted): boolean {
    if (this.retryIn(now) > 0) return false;
    if (now >= this.#grantedUntil) return true;
    if (this.#tokensAt(now) < sends) return true;
    // Short of slots because others hold them: they are asked for again now and then, not for every row.
    return this.#slots < concurrency && this.#slots - this.#taken < wanted && now >= this.#askAgainAt;
  }

  /**
   * To be called when a grant is asked for; `grant` or `forgetGrant` follows. It wants room to grow, not everything:
   * what is left is there for other workers at once.
   */
  ask(wanted: number, concurrency: number): LaneAsk {
    this.#holdsGrant = true;
    this.#asked = { inUse: this.#taken, want: Math.min(concurrency, 2 * (this.#taken + wanted)) };
    return this.#asked;
  }

  grant(grant: LaneGrant, until: number, now: number): void {
    const short = grant.slots < (this.#asked?.want ?? Number.POSITIVE_INFINITY);
    this.#tokens =
      grant.tokens === null ? null : grant.tokens + (this.#tokens === null ? 0 : this.#tokensAt(now));
    this.#tokensUntil = now + SENDS_KEEP_MS;
    this.#asked = null;
    this.#slots = grant.slots;
    this.#shared = grant.shared;
    this.#probe = grant.probe;
    this.#grantedUntil = until;
    this.#askAgainAt = short ? now + ASK_AGAIN_MS : now;
    this.#againAt = grant.retryInMs === null ? 0 : now + grant.retryInMs;
    // Others were given commands for this subscriber too and may have had no slot for them.
    if (grant.shared) this.#waiting = true;
  }

  /** Slots for requests that may begin as far as their number goes; the rate may still hold them back. */
  get free(): number {
    return Math.max(0, Math.min(this.#slots, this.#asked?.inUse ?? this.#slots) - this.#taken);
  }

  /** Milliseconds after which asking again may help; 0 while requests may begin, or nobody can tell. */
  retryIn(now: number): number {
    const mayBegin = this.#slots > 0 && this.#tokensAt(now) > 0;
    return mayBegin ? 0 : Math.max(0, this.#againAt - now);
  }

  /** Whether it is idle and was all the time since this was asked before: another row may be just behind the last. */
  rests(): boolean {
    const rests = this.idle && !this.#usedSince;
    this.#usedSince = false;
    return rests;
  }

  /** Takes up to `wanted` slots. @returns how many it got. */
  reserve(wanted: number, now: number): number {
    const granted = now < this.#grantedUntil ? Math.min(wanted, this.free, this.#tokensAt(now)) : 0;
    this.#taken += granted;
    this.#usedSince = true;
    if (this.#tokens !== null) this.#tokens -= granted;
    return granted;
  }

  /** Gives slots back. @param unused of them, no request was begun. */
  release(slots: number, unused: boolean): void {
    this.#taken -= slots;
    if (unused && this.#tokens !== null) this.#tokens += slots;
  }

  /** Sends that may begin. */
  #tokensAt(now: number): number {
    if (this.#tokens === null) return Number.POSITIVE_INFINITY;
    return now < this.#tokensUntil ? this.#tokens : 0;
  }

  /** Rows were left to the database because no slot was free; they are to be fetched when some are. */
  leaveWaiting(): void {
    this.#waiting = true;
  }

  /**
   * Whether it is time for waiting rows. One refill at a time.
   *
   * @param batch whether to wait until half the slots are free, so that rows come in batches and the rest keeps the
   * subscriber busy meanwhile.
   */
  beginRefill(batch = true): boolean {
    if (!this.waiting || this.#refilling) return false;
    if (this.#taken > 0 && (batch ? this.#taken > this.#slots / 2 : this.#taken >= this.#slots)) return false;
    this.#refilling = true;
    return true;
  }

  /**
   * New rows go to the end of the line, as far as there is `room`. What a tick named may be retries or rows that nobody
   * has tried: the database knows, and whose turn it is among them, so it is asked for both.
   */
  stand(rows: readonly Offered[], room: number): void {
    const fresh = rows.filter(({ isNew }) => isNew);
    this.line.append(fresh, room);
    if (fresh.length === rows.length) return;
    this.#waiting = true;
    this.line.leaveOut();
  }

  /** Of one slot, new rows and retries have every other. @returns how many slots are a retry's. */
  takeTurns(): 0 | 1 {
    this.#retryIsNext = !this.#retryIsNext;
    return this.#retryIsNext ? 1 : 0;
  }

  /** Rows may wait in the database that would not stand in line: retries, and what only other workers heard of. */
  get waitingElsewhere(): boolean {
    return this.#waiting;
  }

  /**
   * The database is asked for rows that wait: from here on others may be left there.
   *
   * @param all whether it is asked for new rows too.
   */
  beginFetch(all = true): void {
    this.#waiting = false;
    if (all) this.line.forgetLeftOut();
  }

  endRefill(): void {
    this.#refilling = false;
    if (this.#shared && this.#taken > 0) this.#waiting = true;
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

  /** Nothing is to be sent before `until`: the subscriber told another worker so. */
  holdBack(until: number): void {
    this.#slots = 0;
    this.#grantedUntil = 0;
    this.#againAt = Math.max(this.#againAt, until);
  }

  /** To be called before the grant is returned. */
  giveBack(): void {
    this.forgetGrant();
    this.#holdsGrant = false;
  }

  /** The grant is void: what is known of the subscriber has changed. */
  forgetGrant(): void {
    this.#asked = null;
    this.#grantedUntil = 0;
    this.#probe = false;
  }
}
