import type { Pool } from 'pg';
import type { StatusEvent } from '../node/post.ts';

/**
 * Changes a shipment and writes down, in the same transaction, that it has to be told. Both happen or neither does, also
 * if this process or the database dies in between.
 *
 * The row's lock lets one change of a shipment commit at a time, so its versions have no gap and no double.
 *
 * @returns the shipment's new version.
 */
export async function changeStatus(
  pool: Pool,
  shipmentId: string,
  status: string,
  data: unknown,
): Promise<number> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const { rows } = await client.query<{ version: string }>(
      `INSERT INTO shipments (id, version, status) VALUES ($1, 1, $2)
       ON CONFLICT (id) DO UPDATE SET version = shipments.version + 1, status = $2
       RETURNING version`,
      [shipmentId, status],
    );
    const eventVersion = Number(rows[0]?.version);
    const event: StatusEvent = {
      shipmentId,
      eventVersion,
      status,
      occurredAt: new Date().toISOString(),
      data,
    };
    await client.query('INSERT INTO outbox (event) VALUES ($1)', [event]);
    await client.query('COMMIT');
    return eventVersion;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  } finally {
    client.release();
  }
}
