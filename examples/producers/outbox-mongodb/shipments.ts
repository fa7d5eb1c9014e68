import type { Db, MongoClient } from 'mongodb';
import type { StatusEvent } from '../node/post.ts';

interface Shipment {
  _id: string;
  version: number;
  status: string;
}

/** What has to be told. It goes when Waybill has taken it; one that Waybill refuses stays, with the reason. */
export interface OutboxEntry {
  /** `<shipment>/<version>`: the same change cannot be written down twice. */
  _id: string;
  event: StatusEvent;
  refused: object | null;
}

/**
 * Changes a shipment and writes down, in the same transaction, that it has to be told. Of two that change one shipment at
 * once the driver runs one again, so versions have no gap and no double.
 *
 * @returns the shipment's new version.
 */
export async function changeStatus(
  client: MongoClient,
  db: Db,
  shipmentId: string,
  status: string,
  data: unknown,
): Promise<number> {
  return await client.withSession((session) =>
    session.withTransaction(
      async () => {
        const shipment = await db
          .collection<Shipment>('shipments')
          .findOneAndUpdate(
            { _id: shipmentId },
            { $inc: { version: 1 }, $set: { status } },
            { upsert: true, returnDocument: 'after', session },
          );
        const eventVersion = shipment?.version ?? 1;
        const event: StatusEvent = {
          shipmentId,
          eventVersion,
          status,
          occurredAt: new Date().toISOString(),
          data,
        };
        await db
          .collection<OutboxEntry>('outbox')
          .insertOne({ _id: `${shipmentId}/${eventVersion}`, event, refused: null }, { session });
        return eventVersion;
      },
      { writeConcern: { w: 'majority' } },
    ),
  );
}
