import type { Db, UUID } from 'mongodb';

/** Longer than a live client waits between the operations of a transaction, in milliseconds. */
const ABANDONED_AFTER_MS = 3_000;

/**
 * Ends transactions of Waybill's services whose client does nothing any more: it was killed between two operations, or
 * stands still. MongoDB would keep them for a minute by itself (`transactionLifetimeLimitSeconds`), and with them
 * everybody who wants to write the same rows. A client that goes on after all is told so and makes its transaction anew.
 *
 * Needs no privilege: a database user may look at its own sessions and end them. Those of another user are not found.
 *
 * @returns how many were ended.
 */
export async function endAbandonedTransactions(db: Db): Promise<number> {
  const admin = db.client.db('admin');
  const abandoned = await admin
    .aggregate<{ lsid: { id: UUID } }>([
      { $currentOp: { idleSessions: true } },
      {
        $match: {
          type: 'idleSession',
          active: false,
          appName: /^waybill-/,
          'transaction.timeInactiveMicros': { $gt: ABANDONED_AFTER_MS * 1_000 },
        },
      },
      { $project: { 'lsid.id': 1 } },
    ])
    .toArray();
  if (abandoned.length > 0)
    await admin.command({ killSessions: abandoned.map(({ lsid: { id } }) => ({ id })) });
  return abandoned.length;
}
