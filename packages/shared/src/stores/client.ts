import { type Db, MongoClient } from 'mongodb';

/** Database used when the connection string names none. */
const DEFAULT_DATABASE = 'waybill';

/** What TLS needs besides the connection string, in PEM: who signs the servers' certificates, and one of our own. */
export interface DatabaseAccess {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

export interface Database {
  readonly db: Db;
  /** Answers if the server does, within `timeoutMs`. */
  ping(timeoutMs: number): Promise<void>;
  close(): Promise<void>;
}

/**
 * Connects to MongoDB. Every write waits for the majority and the journal: what a method has returned from
 * survives the loss of a server. While the primary is away operations fail after 5 s; callers that must not
 * lose work try again.
 */
export async function connectDatabase(
  uri: string,
  applicationName: string,
  access: DatabaseAccess = {},
): Promise<Database> {
  const client = new MongoClient(uri, {
    ...access,
    appName: applicationName,
    writeConcern: { w: 'majority', journal: true },
    readPreference: 'primary',
    retryWrites: true,
    serverSelectionTimeoutMS: 5_000,
    connectTimeoutMS: 5_000,
    ignoreUndefined: false,
  });
  try {
    await client.connect();
  } catch (error) {
    await client.close();
    throw error;
  }
  const named = new URL(uri.replace(/^mongodb(\+srv)?:/, 'http:').replace(/,[^/]*/, '')).pathname.slice(1);
  const db = client.db(named || DEFAULT_DATABASE);
  return {
    db,
    ping: async (timeoutMs) => {
      await db.command({ ping: 1 }, { timeoutMS: timeoutMs });
    },
    close: () => client.close(),
  };
}
