import type { Document } from 'mongodb';

/** Subscribers that may receive. Those that are gone are among them, so that a dispatcher cancels what they are owed. */
export function mayReceive(except: readonly string[]): Document {
  const receiving = { enabled: true, quarantine: { $exists: false } };
  return { _id: { $nin: except }, $or: [receiving, { deletedAt: { $exists: true } }] };
}

/** Subscribers that may receive, each with its due rows. */
export function dueOfSubscribers(now: Date, except: readonly string[], most: number): Document[] {
  const due = [
    { $match: { dueAt: { $gt: new Date(0), $lte: now } } },
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
