import { randomBytes } from 'node:crypto';
import { connectDatabase, type Database } from '../stores/client.ts';
import { ensureIndexes } from '../stores/ensure-indexes.ts';

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

/** What to do to commands. The server must run with test commands enabled. */
export interface FailPoint {
  readonly commands: readonly string[];
  /** As `database.collection`; any, when left out. */
  readonly namespace?: string;
  /** How many commands; all of them, when left out. */
  readonly times?: number;
  readonly errorCode?: number;
  readonly errorLabels?: readonly string[];
  /** Drops the connection instead of answering with an error. */
  readonly closeConnection?: boolean;
  /** Lets the command through, so late. */
  readonly blockTimeMS?: number;
  /** Only those of this client. */
  readonly appName: string;
}

export interface SetFailPoint extends AsyncDisposable {
  /** Ends it. @returns how many commands it met. */
  end(): Promise<number>;
}

/**
 * Makes the server fail on purpose, until it has done so often enough or this ends. A server has one such point: of
 * all test files that may run at once only one can use it.
 */
export async function failCommands({ db }: Pick<OwnDatabase, 'db'>, point: FailPoint): Promise<SetFailPoint> {
  const { commands, times, ...data } = point;
  const admin = db.admin();
  const configure = (mode: unknown, what: object = {}) =>
    admin.command({ configureFailPoint: 'failCommand', mode, ...what });
  const blockConnection = data.blockTimeMS !== undefined;
  const { count: before } = await configure(times === undefined ? 'alwaysOn' : { times }, {
    data: { failCommands: commands, blockConnection, ...data },
  });
  const end = async () => (await configure('off')).count - before;
  return {
    end,
    [Symbol.asyncDispose]: async () => {
      await end();
    },
  };
}
