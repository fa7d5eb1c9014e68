import type { ClientSession, Collection, Db, MongoClient } from 'mongodb';
import type { MortalProcess } from './mortal-process.ts';

type Method = (...args: unknown[]) => unknown;

/** What each method answers a dead process. `bulkWrite` says that all was done, so that nobody tries it again. */
const NOTHING: Readonly<Record<string, (...args: unknown[]) => unknown>> = {
  findOne: () => null,
  findOneAndUpdate: () => null,
  updateOne: () => ({ matchedCount: 0, modifiedCount: 0 }),
  updateMany: () => ({ matchedCount: 0, modifiedCount: 0 }),
  bulkWrite: (writes) => ({ matchedCount: (writes as unknown[]).length }),
  insertMany: () => ({ insertedCount: 0 }),
  countDocuments: () => 0,
};

/** Methods that only describe a read; `toArray` or `next` makes it. */
const CURSORS = ['find', 'aggregate'];

/**
 * The real database as one process reaches it: every call may be its last. A method that is not listed is refused, so
 * that no call passes unseen.
 */
export function mortalDatabase(db: Db, process: MortalProcess): Db {
  const collections = new Map<string, Collection>();
  return seenAs<Db>(db, (name) => {
    if (name === 'client') return mortalClient(db.client, process);
    if (name !== 'collection') throw new Error(`no store is known to use db.${name}`);
    return (collection: string) => {
      const known = collections.get(collection) ?? mortalCollection(db.collection(collection), process);
      collections.set(collection, known);
      return known;
    };
  });
}

function mortalCollection(collection: Collection, process: MortalProcess): Collection {
  return seenAs<Collection>(collection, (name) => {
    const method = Reflect.get(collection, name) as Method;
    if (CURSORS.includes(name)) {
      return (...args: unknown[]) =>
        mortalCursor(method.apply(collection, args) as object, process, isInTransaction(args));
    }
    const nothing = NOTHING[name];
    if (nothing === undefined) throw new Error(`no store is known to use collection.${name}`);
    return (...args: unknown[]) =>
      process.database(async () => method.apply(collection, args), nothing(...args), isInTransaction(args));
  });
}

/** What each way to read a cursor answers a dead process. */
const NOTHING_READ: Readonly<Record<string, unknown>> = { toArray: [], next: null };

/** `find().sort().limit().map().toArray()`: all but the last only describe. */
function mortalCursor(cursor: object, process: MortalProcess, inTransaction: boolean): object {
  return seenAs<object>(cursor, (name) => {
    const method = Reflect.get(cursor, name) as Method;
    return (...args: unknown[]) =>
      name in NOTHING_READ
        ? process.database<unknown>(async () => method.apply(cursor, args), NOTHING_READ[name], inTransaction)
        : mortalCursor(method.apply(cursor, args) as object, process, inTransaction);
  });
}

/** A transaction counts as a call as well: a process may die before it, within, or before it hears of the commit. */
function mortalClient(client: MongoClient, process: MortalProcess): MongoClient {
  return seenAs<MongoClient>(client, (name) => {
    if (name !== 'withSession') throw new Error(`no store is known to use client.${name}`);
    return (work: (session: ClientSession) => Promise<unknown>) =>
      client.withSession((session) => {
        const run = session.withTransaction.bind(session) as Method;
        const mortal: Method = (...args) =>
          process.database<unknown>(async () => run(...args), undefined, true);
        return work(Object.assign(session, { withTransaction: mortal }));
      });
  });
}

function isInTransaction(args: readonly unknown[]): boolean {
  const options = args.at(-1);
  return typeof options === 'object' && options !== null && 'session' in options && options.session != null;
}

function seenAs<T extends object>(target: T, member: (name: string) => unknown): T {
  return new Proxy(target, { get: (_, name) => (typeof name === 'string' ? member(name) : undefined) });
}
