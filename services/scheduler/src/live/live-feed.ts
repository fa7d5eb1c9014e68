import type { liveAnswer } from '@waybill/shared/contracts/http-answers';
import type { Logger } from '@waybill/shared/telemetry/logger';
import type { z } from 'zod';

export type Snapshot = z.output<typeof liveAnswer>;

/** How often it is looked while somebody watches, in milliseconds. */
const EVERY_MS = 2_000;
/** More listeners than this are refused: each holds a connection. */
const MOST_LISTENERS = 100;

interface Listener {
  readonly onSnapshot: (snapshot: Snapshot) => void;
  readonly onEnd: () => void;
}

/**
 * Looks at how things are every two seconds for as long as somebody watches, once for all who do. What cannot be read is
 * passed over; the next look comes all the same.
 */
export class LiveFeed {
  readonly #look: (since: Date | null) => Promise<Snapshot>;
  readonly #logger: Logger;
  readonly #listeners = new Set<Listener>();
  #timer: NodeJS.Timeout | null = null;
  #looking: Promise<Snapshot> | null = null;
  #last: Snapshot | null = null;

  /** @param look reads everything; what is counted is counted since a look before, or over a span of its own. */
  constructor(look: (since: Date | null) => Promise<Snapshot>, logger: Logger) {
    this.#look = look;
    this.#logger = logger;
  }

  /** How things are now; at most one look is under way, whoever asks. */
  snapshot(): Promise<Snapshot> {
    this.#looking ??= this.#look(this.#last && new Date(this.#last.at))
      .then((snapshot) => {
        this.#last = snapshot;
        return snapshot;
      })
      .finally(() => {
        this.#looking = null;
      });
    return this.#looking;
  }

  /**
   * Hands over each snapshot from now on, the first one at once.
   *
   * @param onEnd called when there will be none any more, because the process ends.
   * @returns stops it; null if too many watch already.
   */
  watch(onSnapshot: Listener['onSnapshot'], onEnd: Listener['onEnd']): (() => void) | null {
    if (this.#listeners.size >= MOST_LISTENERS) return null;
    const listener = { onSnapshot, onEnd };
    this.#listeners.add(listener);
    this.#timer ??= setInterval(() => void this.#tell(), EVERY_MS);
    void this.#tell();
    return () => this.#leave(listener);
  }

  /** Ends every watch. */
  close(): void {
    for (const listener of [...this.#listeners]) {
      this.#leave(listener);
      listener.onEnd();
    }
  }

  async #tell(): Promise<void> {
    // What is under way tells everybody when it is there.
    if (this.#looking) return;
    try {
      const snapshot = await this.snapshot();
      for (const { onSnapshot } of this.#listeners) onSnapshot(snapshot);
    } catch (error) {
      this.#logger.warn({ err: error }, 'a look for those who watch failed');
    }
  }

  #leave(listener: Listener): void {
    this.#listeners.delete(listener);
    if (this.#listeners.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
    // Counts of the next who watches shall not reach back to now.
    this.#last = null;
  }
}
