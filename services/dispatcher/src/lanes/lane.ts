/**
 * One subscriber's share of this worker: how many requests are under way and whether more rows wait for it. A row
 * is claimed only when it can be sent at once, so no lease runs while its row stands in line.
 */
export class Lane {
  readonly subscriberId: string;
  /** Slots taken: requests under way and claims being made. */
  #taken = 0;
  #waiting = false;
  #refilling = false;

  constructor(subscriberId: string) {
    this.subscriberId = subscriberId;
  }

  /** Nothing under way and nothing known to wait: the lane may be forgotten. */
  get idle(): boolean {
    return this.#taken === 0 && !this.#waiting && !this.#refilling;
  }

  /** Takes up to `wanted` slots. @returns how many it got. */
  reserve(wanted: number, concurrency: number): number {
    const granted = Math.max(0, Math.min(wanted, concurrency - this.#taken));
    this.#taken += granted;
    return granted;
  }

  release(slots: number): void {
    this.#taken -= slots;
  }

  /** Rows were left unclaimed because no slot was free; they are to be fetched when some are. */
  leaveWaiting(): void {
    this.#waiting = true;
  }

  /**
   * Whether it is time to fetch waiting rows: when half the slots are free, so that rows come in batches and the
   * rest keeps the subscriber busy meanwhile. One fetch at a time.
   */
  beginRefill(concurrency: number): boolean {
    if (!this.#waiting || this.#refilling || this.#taken > concurrency / 2) return false;
    this.#refilling = true;
    this.#waiting = false;
    return true;
  }

  /** @param more whether rows may have been left. */
  endRefill(more: boolean): void {
    this.#refilling = false;
    if (more) this.#waiting = true;
  }
}
