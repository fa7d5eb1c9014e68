import type { Db, Document } from 'mongodb';

/** What may have run out when time has passed. */
export const TIMES = ['deadlines', 'leases', 'lanes', 'runs'] as const;
export type Time = (typeof TIMES)[number];

/** Before any moment that a run of the model sees. */
const LONG_MS = 120_000;

const earlier = (field: string): Document => ({ $min: [field, { $subtract: ['$$NOW', 1] }] });

/**
 * Lets time pass for what is in the database, without waiting: deadlines are set back. The processes' own timers do not
 * notice, as on a machine that was suspended.
 *
 * @param alive instances of dispatchers that still renew what they hold.
 */
export async function letTimePass(db: Db, times: readonly Time[], alive: readonly string[]): Promise<void> {
  const passings: Record<Time, () => Promise<unknown>> = {
    deadlines: () => Promise.all([passDeadlines(db), passEvents(db)]),
    leases: () => passLeases(db),
    lanes: () => passLanes(db, alive),
    runs: () =>
      db
        .collection('runs')
        .updateMany({ finishedAt: { $exists: false } }, [
          { $set: { startedAt: { $subtract: ['$startedAt', LONG_MS] } } },
        ]),
  };
  await Promise.all(times.map((time) => passings[time]()));
}

function passDeadlines(db: Db): Promise<unknown> {
  return db
    .collection('deliveries')
    .updateMany({ state: { $in: ['pending', 'queued'] } }, [{ $set: { dueAt: earlier('$dueAt') } }]);
}

function passEvents(db: Db): Promise<unknown> {
  return db
    .collection('status_events')
    .updateMany({ dueAt: { $exists: true } }, [{ $set: { dueAt: earlier('$dueAt') } }]);
}

/** A lease's end stands twice: on the row and on its attempt. */
function passLeases(db: Db): Promise<unknown> {
  const over = { $mergeObjects: ['$$this', { leaseUntil: earlier('$$this.leaseUntil') }] };
  const attempts = {
    $map: {
      input: '$attempts',
      in: { $cond: [{ $eq: ['$$this.leaseId', '$lease.id'] }, over, '$$this'] },
    },
  };
  return db
    .collection('deliveries')
    .updateMany({ state: 'in_flight' }, [{ $set: { dueAt: earlier('$dueAt'), attempts } }]);
}

function passLanes(db: Db, alive: readonly string[]): Promise<unknown> {
  const ended = (field: string) => ({ $cond: [{ $gt: [field, null] }, earlier(field), '$$REMOVE'] });
  const holders = {
    $filter: { input: { $ifNull: ['$holders', []] }, cond: { $in: ['$$this.instance', alive] } },
  };
  const breaker = {
    $cond: [
      { $gt: ['$breaker', null] },
      { $mergeObjects: ['$breaker', { openUntil: earlier('$breaker.openUntil') }] },
      '$$REMOVE',
    ],
  };
  return db
    .collection('lanes')
    .updateMany({}, [
      { $set: { holders, breaker, throttledUntil: ended('$throttledUntil'), rateAt: ended('$rateAt') } },
    ]);
}
