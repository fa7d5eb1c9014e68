import { randomBytes } from 'node:crypto';
import { connectDatabase, type Database } from '../stores/client.ts';
import { ensureIndexes } from '../stores/indexes.ts';

/** A database of one test file's own, with all indexes; gone when it is disposed of. */
export interface OwnDatabase extends AsyncDisposable, Pick<Database, 'db'> {
  /** Leads to this database, for whatever connects by itself. */
  readonly uri: string;
}

/** @param uri of the server; the database it names is left alone. */
export async function ownDatabase(uri: string): Promise<OwnDatabase> {
  const own = new URL(uri);
  own.pathname = `/test_${randomBytes(6).toString('hex')}`;
  const { db, close } = await connectDatabase(own.href, 'waybill-tests');
  await ensureIndexes(db);
  return {
    uri: own.href,
    db,
    [Symbol.asyncDispose]: async () => {
      await db.dropDatabase();
      await close();
    },
  };
}

/** What to fail, and how often. The server must run with test commands enabled. */
export interface FailPoint {
  readonly commands: readonly string[];
  /** As `database.collection`; any, when left out. */
  readonly namespace?: string;
  readonly times: number;
  readonly errorCode?: number;
  readonly errorLabels?: readonly string[];
  /** Drops the connection instead of answering with an error. */
  readonly closeConnection?: boolean;
  /** Only those of this client. */
  readonly appName: string;
}

/** Makes the server fail on purpose until it has done so often enough, or this is disposed of. */
export async function failCommands({ db }: OwnDatabase, point: FailPoint): Promise<AsyncDisposable> {
  const { commands, times, ...data } = point;
  const admin = db.admin();
  await admin.command({
    configureFailPoint: 'failCommand',
    mode: { times },
    data: { failCommands: commands, ...data },
  });
  return {
    [Symbol.asyncDispose]: async () => {
      await admin.command({ configureFailPoint: 'failCommand', mode: 'off' });
    },
  };
}
