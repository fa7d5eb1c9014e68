import { MongoClient, MongoServerError } from 'mongodb';
import type { DatabaseAccess } from './client.ts';

/** Whoever manages users has initiated the set before, and may keep that right from others. */
const UNAUTHORIZED = 13;
const NOT_YET_INITIALIZED = 94;
const ALREADY_INITIALIZED = 23;
const INITIATED_WITHIN_MS = 30_000;

/**
 * Initiates a one-node replica set where the connection string names a single host and a replica set that was
 * never initiated: transactions and majority writes need one. A set that exists is left as it is.
 */
export async function ensureReplicaSet(uri: string, access: DatabaseAccess = {}): Promise<void> {
  const { host, searchParams } = new URL(uri.replace(/^mongodb(\+srv)?:/, 'http:'));
  const name = searchParams.get('replicaSet');
  if (name === null || host.includes(',')) return;
  const direct = uri.replace(/([?&])replicaSet=[^&]*/, '$1directConnection=true');
  const client = new MongoClient(direct, { ...access, serverSelectionTimeoutMS: INITIATED_WITHIN_MS });
  try {
    const admin = client.db('admin');
    try {
      await admin.command({ replSetGetStatus: 1 });
      return;
    } catch (error) {
      if (error instanceof MongoServerError && error.code === UNAUTHORIZED) return;
      if (!(error instanceof MongoServerError) || error.code !== NOT_YET_INITIALIZED) throw error;
    }
    await admin.command({ replSetInitiate: { _id: name, members: [{ _id: 0, host }] } });
  } catch (error) {
    if (!(error instanceof MongoServerError) || error.code !== ALREADY_INITIALIZED) throw error;
  } finally {
    await client.close();
  }
}
