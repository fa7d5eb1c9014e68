import type { Db } from 'mongodb';

const RESAMPLE_MS = 10_000;
/** Questions per sample: one that was held up on its way, as when a process starts, says little. */
const QUESTIONS = 5;

/**
 * The one clock of the system is the database's. Updates use `$$NOW`; where a time is needed on this side (new
 * rows, when a request left), it is the database's time at the last sample plus what a monotonic clock counted
 * since. The wall clock of this machine is never asked, so a wrong one does no harm.
 */
export interface DatabaseClock {
  /** The database's time, to within half of a quick round trip. */
  now(): Date;
  /** The database's time at a moment of `performance.now()`. */
  at(monotonicMs: number): Date;
  stop(): void;
}

export async function startDatabaseClock(db: Db): Promise<DatabaseClock> {
  let offsetMs = await sampleOffset(db);
  const timer = setInterval(() => {
    sampleOffset(db).then(
      (sample) => {
        offsetMs = sample;
      },
      () => {
        // The last sample holds while the database does not answer; readiness reports the outage.
      },
    );
  }, RESAMPLE_MS);
  timer.unref();
  const at = (monotonicMs: number) => new Date(offsetMs + monotonicMs);
  return { at, now: () => at(performance.now()), stop: () => clearInterval(timer) };
}

/** How far the wall clock of this machine is ahead of the database's, in milliseconds; negative: behind. */
export async function clockDifferenceMs(db: Db): Promise<number> {
  const offsetMs = await sampleOffset(db);
  return Date.now() - (offsetMs + performance.now());
}

/** The database's time at zero of the monotonic clock, by the quickest answer of several. */
async function sampleOffset(db: Db): Promise<number> {
  let best = { roundTripMs: Number.POSITIVE_INFINITY, offsetMs: 0 };
  for (let asked = 0; asked < QUESTIONS; asked++) {
    const before = performance.now();
    const { localTime } = await db.command({ hello: 1 });
    const roundTripMs = performance.now() - before;
    if (roundTripMs < best.roundTripMs) {
      best = { roundTripMs, offsetMs: (localTime as Date).getTime() - (before + roundTripMs / 2) };
    }
  }
  return best.offsetMs;
}
