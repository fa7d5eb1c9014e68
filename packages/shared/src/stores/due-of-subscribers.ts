import type { Document } from 'mongodb';

/**
 * Subscribers that may receive, each with its due rows. Those that are gone are among them, so that a dispatcher cancels
 * what they are still owed.
 */
export function dueOfSubscribers(now: Date, except: readonly string[], most: number): Document[] {
  const mayReceive = { enabled: true, quarantine: { $exists: false } };
  const due = [
    { $match: { dueAt: { $gt: new Date(0), $lte: now } } },
    { $sort: { dueAt: 1 } },
    { $limit: most },
    { $project: { _id: 1 } },
  ];
  return [
    { $match: { _id: { $nin: except }, $or: [mayReceive, { deletedAt: { $exists: true } }] } },
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
