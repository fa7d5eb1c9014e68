import {
  type AnyBulkWriteOperation,
  type Collection,
  type Document,
  MongoBulkWriteError,
  MongoError,
} from 'mongodb';

const DUPLICATE_KEY = 11_000;
/** How often a write is made again that the database says lost against another and may simply be repeated. */
const MAX_REPEATS = 5;

/**
 * Inserts rows in one unordered write and leaves those alone whose key exists already.
 *
 * @returns the indexes, in `rows`, of those that were not inserted because of a unique index.
 * @throws any other fault of the write, whole.
 */
export async function insertMissing<Row extends Document>(
  collection: Collection<Row>,
  rows: readonly Row[],
): Promise<Set<number>> {
  if (rows.length === 0) return new Set();
  const inserts = rows.map((document) => ({ insertOne: { document } })) as AnyBulkWriteOperation<Row>[];
  for (let repeats = 0; ; repeats++) {
    try {
      await collection.bulkWrite(inserts, { ordered: false });
      return new Set();
    } catch (error) {
      if (repeats < MAX_REPEATS && isTransient(error)) continue;
      return duplicatesOf(error);
    }
  }
}

/** Whether a write failed because a unique index has its key already. */
export function isDuplicateKey(error: unknown): boolean {
  return error instanceof MongoError && error.code === DUPLICATE_KEY;
}

/** Repeating is safe here: what the first try inserted, the next finds. */
function isTransient(error: unknown): boolean {
  return error instanceof MongoError && error.hasErrorLabel('TransientTransactionError');
}

/** @throws the error unless duplicate keys are all that is wrong. */
function duplicatesOf(error: unknown): Set<number> {
  if (!(error instanceof MongoBulkWriteError)) throw error;
  const faults = Array.isArray(error.writeErrors) ? error.writeErrors : [error.writeErrors];
  const onlyDuplicates =
    faults.length > 0 &&
    faults.every((fault) => fault.code === DUPLICATE_KEY) &&
    !error.result.getWriteConcernError();
  if (!onlyDuplicates) throw error;
  return new Set(faults.map((fault) => fault.index));
}
