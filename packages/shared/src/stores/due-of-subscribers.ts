import type { Document } from 'mongodb';
import { OPEN_STATES } from '../domain/delivery.ts';

/**
 * Whatever waits or is under way, said so that the index `lane` of a subscriber finds it, oldest first if asked to: it is
 * a few ranges in one.
 */
export const IN_LANE = { tried: { $in: [false, true] }, state: { $in: [...OPEN_STATES] } };

/** Subscribers that may receive. Those that are gone are among them, so that a dispatcher cancels what they are owed. */
export function mayReceive(except: readonly string[]): Document {
  const receiving = { enabled: true, quarantine: { $exists: false } };
  return { _id: { $nin: except }, $or: [receiving, { deletedAt: { $exists: true } }] };
}

/** Subscribers that may receive, each with its due rows. */
export function dueOfSubscribers(now: Date, except: readonly string[], most: number): Document[] {
  const due = [
    { $match: { ...IN_LANE, dueAt: { $gt: new Date(0), $lte: now } } },
    { $sort: { dueAt: 1 } },
    { $limit: most },
    { $project: { _id: 1, dueAt: 1 } },
  ];
  return [
    { $match: mayReceive(except) },
    {
      $lookup: {
        from: 'deliveries',
        localField: '_id',
        foreignField: 'subscriberId',
        pipeline: due,
        as: 'due',
      },
    },
    { $match: { due: { $ne: [] } } },
  ];
}
