import { MongoError, MongoNetworkError } from 'mongodb';

/** What a server says that gives up its place as primary, or is not one: see `isRetryableWriteError` of the driver's specification. */
const CHANGING_PRIMARY: ReadonlySet<unknown> = new Set([91, 189, 10_107, 11_600, 11_602, 13_435, 13_436]);

/**
 * Makes a write once more whose answer was lost, where the driver does not: it repeats a statement by itself only if that
 * names a single row.
 *
 * @param write has the same effect made twice as made once; what it answers may differ.
 */
export async function repeatIfLost<Answer>(write: () => Promise<Answer>): Promise<Answer> {
  try {
    return await write();
  } catch (error) {
    if (isLost(error)) return write();
    throw error;
  }
}

function isLost(error: unknown): boolean {
  if (error instanceof MongoNetworkError) return true;
  return (
    error instanceof MongoError &&
    (error.hasErrorLabel('RetryableWriteError') || CHANGING_PRIMARY.has(error.code))
  );
}
