import { setTimeout as delay } from 'node:timers/promises';
import { type Db, type Document, MongoClient, MongoServerError } from 'mongodb';

const NOT_YET_INITIALIZED = 94;
const NO_REPLICATION_CONFIG = 13436;
const POLL_MS = 30;
/** A set of one waits for nobody: the shorter this is, the sooner a restarted server is primary again. */
const ELECTION_TIMEOUT_MS = 1000;

/**
 * Makes the server at `address` (host:port) the one member, and primary, of the replica set `setName`, whether
 * it is new, or was the one member under another address before (its data moved to another port).
 * Rejects when it is not primary after `timeoutMs`. Not for a set that has other members.
 */
export async function becomeSoleMember(address: string, setName: string, timeoutMs: number): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  const client = new MongoClient(`mongodb://${address}/?directConnection=true`, {
    serverSelectionTimeoutMS: timeoutMs,
    maxPoolSize: 1,
  });
  try {
    const admin = client.db('admin');
    await configure(admin, address, setName);
    while (!(await isPrimary(admin))) {
      if (Date.now() > deadline)
        throw new Error(`MongoDB at ${address} is not primary after ${timeoutMs} ms`);
      await delay(POLL_MS);
    }
  } finally {
    await client.close();
  }
}

async function configure(admin: Db, address: string, setName: string): Promise<void> {
  const present = await admin
    .admin()
    .command({ replSetGetConfig: 1 })
    .then((answer) => answer.config as Document)
    .catch(notInitiated);
  const member = { _id: 0, host: address };
  const settings = { electionTimeoutMillis: ELECTION_TIMEOUT_MS };
  if (present === undefined) {
    await admin.command({ replSetInitiate: { _id: setName, members: [member], settings } });
  } else if (present.members[0]?.host !== address) {
    // Forced: a server that does not find itself in the configuration is no primary that could change it.
    const config = {
      ...present,
      version: present.version + 1,
      members: [{ ...present.members[0], ...member }],
    };
    await admin.command({ replSetReconfig: config, force: true });
  }
}

function notInitiated(error: unknown): undefined {
  const codes: unknown[] = [NOT_YET_INITIALIZED, NO_REPLICATION_CONFIG];
  if (error instanceof MongoServerError && codes.includes(error.code)) return;
  throw error;
}

async function isPrimary(admin: Db): Promise<boolean> {
  const answer = await admin.command({ hello: 1 });
  return answer.isWritablePrimary === true;
}
