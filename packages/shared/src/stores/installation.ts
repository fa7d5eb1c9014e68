import { randomBytes } from 'node:crypto';
import { Binary, type Db } from 'mongodb';

interface InstallationRow {
  _id: 'installation';
  namingKey: Binary;
  createdAt: Date;
}

/**
 * The key that names deliveries, made once per installation and kept beside the rows it names: it must live
 * exactly as long as they do. It is no credential; it keeps shipment ids out of headers that others log.
 */
export async function loadNamingKey(db: Db): Promise<Buffer> {
  const row = await db
    .collection<InstallationRow>('installation')
    .findOneAndUpdate(
      { _id: 'installation' },
      { $setOnInsert: { namingKey: new Binary(randomBytes(32)), createdAt: new Date() } },
      { upsert: true, returnDocument: 'after' },
    );
  if (!row) throw new Error('the installation row was neither found nor made');
  return Buffer.from(row.namingKey.buffer);
}
