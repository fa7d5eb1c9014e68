import { isDeepStrictEqual } from 'node:util';
import {
  type Collection,
  type Db,
  type Document,
  type IndexDescriptionInfo,
  MongoServerError,
} from 'mongodb';
import { isDuplicateKey } from './duplicate-keys.ts';
import { INDEXES, type Index } from './indexes.ts';

/** Server codes: an index is there under another name, or under this one with other keys or options. */
const CONFLICTS = [85, 86];
const INDEX_NOT_FOUND = 27;
const NO_SUCH_COLLECTION = 26;
/** Groups of rows that a message names at most. */
const NAMED = 5;

/** An index as the server describes it. */
type Present = IndexDescriptionInfo & { readonly name: string };

/** Rows stand in the way of a unique index. Nothing was changed. */
export class DuplicateRowsError extends Error {
  override readonly name = 'DuplicateRowsError';
}

/**
 * Makes what is missing. Safe to run twice and by two at once, and while services run.
 *
 * An index whose keys or options have changed since an earlier release is built under another name, `lane_2` for `lane`,
 * and only then is the old one dropped: no moment is without a unique index, or without one to read by.
 *
 * @param log told of what takes time, and of what is dropped.
 * @throws DuplicateRowsError naming the rows that a unique index does not allow.
 */
export async function ensureIndexes(db: Db, log: (line: string) => void = () => {}): Promise<void> {
  await Promise.all(
    Object.entries(INDEXES).map(([name, wanted]) => ensureOf(db.collection(name), wanted, log)),
  );
}

/** What `ensureIndexes` would change, in words, each line beginning with a collection's name. Changes nothing. */
export async function indexFaults(db: Db): Promise<string[]> {
  const faults = await Promise.all(
    Object.entries(INDEXES).map(async ([name, wanted]) => {
      const present = await indexesOf(db.collection(name));
      const missing = wanted.filter((index) => !present.some((other) => isSame(index, other)));
      const stale = present.filter((other) => isStale(other, wanted));
      return [
        ...missing.map(
          ({ key, options }) => `${name} lacks ${options.name} (${Object.keys(key).join(', ')})`,
        ),
        ...stale.map((other) => `${name} has ${other.name} of another release`),
      ];
    }),
  );
  return faults.flat();
}

async function ensureOf(
  collection: Collection,
  wanted: readonly Index[],
  log: (line: string) => void,
): Promise<void> {
  const present = await indexesOf(collection);
  const missing = wanted.filter((index) => !present.some((other) => isSame(index, other)));
  if (missing.length > 0) {
    const named = missing.map((index) => ({ ...index, as: freeName(index, present) }));
    await build(collection, named, log);
  }
  for (const stale of present.filter((other) => isStale(other, wanted))) {
    await drop(collection, stale.name);
    log(`MongoDB: ${collection.collectionName}: dropped the index ${stale.name} of another release`);
  }
}

async function indexesOf(collection: Collection): Promise<Present[]> {
  try {
    const present = await collection.indexes();
    return present.map((index) => ({ ...index, name: index.name ?? '' }));
  } catch (error) {
    if (error instanceof MongoServerError && error.code === NO_SUCH_COLLECTION) return [];
    throw error;
  }
}

/** All in one pass over the collection. */
async function build(
  collection: Collection,
  indexes: readonly (Index & { readonly as: string })[],
  log: (line: string) => void,
): Promise<void> {
  const { collectionName } = collection;
  const rows = await collection.estimatedDocumentCount();
  const names = indexes.map(({ as, key }) => `${as} (${Object.keys(key).join(', ')})`).join(', ');
  const startedAt = performance.now();
  if (rows > 0) log(`MongoDB: ${collectionName}: building ${names} over ${rows} rows`);
  try {
    await collection.createIndexes(
      indexes.map(({ key, options, as }) => ({ ...options, key: { ...key }, name: as })),
    );
  } catch (error) {
    if (isDuplicateKey(error)) throw await duplicateRows(collection, indexes, error);
    throw error instanceof MongoServerError && CONFLICTS.includes(Number(error.code))
      ? conflict(collectionName, names, error)
      : error;
  }
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  if (rows > 0) log(`MongoDB: ${collectionName}: built in ${seconds} s`);
}

/** Another process may have dropped it first. */
async function drop(collection: Collection, name: string): Promise<void> {
  try {
    await collection.dropIndex(name);
  } catch (error) {
    if (!(error instanceof MongoServerError && error.code === INDEX_NOT_FOUND)) throw error;
  }
}

function isSame({ key, options }: Index, other: Present): boolean {
  const { unique = false, sparse = false, partialFilterExpression = null } = options;
  return (
    // The order of keys matters, that of options does not.
    isDeepStrictEqual(Object.entries(key), Object.entries(other.key)) &&
    unique === (other.unique ?? false) &&
    sparse === (other.sparse ?? false) &&
    isDeepStrictEqual(partialFilterExpression, other.partialFilterExpression ?? null) &&
    other.expireAfterSeconds === undefined &&
    other.collation === undefined
  );
}

/** Whether an index bears a name of ours and is none of those wanted. Others are left alone. */
function isStale(other: Present, wanted: readonly Index[]): boolean {
  const base = other.name.replace(/_\d+$/, '');
  return (
    wanted.some(({ options }) => options.name === other.name || options.name === base) &&
    !wanted.some((index) => isSame(index, other))
  );
}

function freeName({ options: { name } }: Index, present: readonly Present[]): string {
  const taken = new Set(present.map((other) => other.name));
  let free = name;
  for (let n = 2; taken.has(free); n++) free = `${name}_${n}`;
  return free;
}

async function duplicateRows(
  collection: Collection,
  indexes: readonly Index[],
  cause: unknown,
): Promise<DuplicateRowsError> {
  const { collectionName } = collection;
  const faults: string[] = [];
  for (const { key, options } of indexes.filter((index) => index.options.unique)) {
    const groups = await duplicatesOf(collection, key, options.partialFilterExpression ?? {});
    if (groups.length === 0) continue;
    const lines = groups.map(({ _id, ids }) => `  ${_id.join(', ')}: ${ids.join(', ')}`);
    faults.push(
      `${collectionName} holds rows that the unique index ${options.name} (${Object.keys(key).join(', ')}) allows once:`,
      ...lines.slice(0, NAMED),
      ...(lines.length > NAMED ? ['  and more'] : []),
    );
  }
  const advice =
    'Nothing was changed. Keep one row of each line, change or delete the others, and run it again.';
  return new DuplicateRowsError([...faults, advice].join('\n'), { cause });
}

function duplicatesOf(collection: Collection, key: Index['key'], filter: Document) {
  return collection
    .aggregate<{ _id: unknown[]; ids: unknown[] }>(
      [
        { $match: filter },
        {
          $group: {
            _id: Object.keys(key).map((field) => `$${field}`),
            ids: { $firstN: { input: '$_id', n: NAMED } },
            count: { $sum: 1 },
          },
        },
        { $match: { count: { $gt: 1 } } },
        { $limit: NAMED + 1 },
      ],
      { allowDiskUse: true },
    )
    .toArray();
}

function conflict(collectionName: string, names: string, cause: MongoServerError): Error {
  return new Error(
    `${names} of ${collectionName} cannot be built beside an index that is there: ${cause.message}. ` +
      'Drop that one by hand and run it again.',
    { cause },
  );
}
