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
  const direct = directTo(uri);
  if (name === null || direct === null) return;
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

/** Whether a server answers there, also one whose replica set was never initiated. @throws why not */
export async function serverAnswers(
  uri: string,
  withinMs: number,
  access: DatabaseAccess = {},
): Promise<void> {
  const options = { ...access, serverSelectionTimeoutMS: withinMs };
  const client = new MongoClient(directTo(uri) ?? uri, options);
  try {
    await client.db('admin').command({ hello: 1 });
  } finally {
    await client.close();
  }
}

/** The connection string of the server alone, whatever its replica set; null where several are named. */
function directTo(uri: string): string | null {
  const named = /^mongodb:\/\/(?:[^@/]*@)?([^/?]*)/.exec(uri)?.[1];
  if (named === undefined || named.includes(',')) return null;
  return uri.replace(/([?&])replicaSet=[^&]*/, '$1directConnection=true');
}
