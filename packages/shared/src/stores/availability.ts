import {
  MongoBulkWriteError,
  MongoError,
  MongoNetworkError,
  MongoNotConnectedError,
  MongoServerSelectionError,
} from 'mongodb';

/** Whether an error says that the database did not answer or has no primary, so that trying again may help. */
export function isDatabaseUnavailable(error: unknown): boolean {
  return (
    error instanceof MongoServerSelectionError ||
    error instanceof MongoNetworkError ||
    error instanceof MongoNotConnectedError ||
    isWrapped(error) ||
    (error instanceof MongoError &&
      (error.hasErrorLabel('RetryableWriteError') || error.hasErrorLabel('TransientTransactionError')))
  );
}

/** A bulk write hides such an error in one of its own, which then holds no fault of any write and no code. */
function isWrapped(error: unknown): boolean {
  return (
    error instanceof MongoBulkWriteError &&
    error.code === undefined &&
    [error.writeErrors].flat().length === 0 &&
    !error.result.getWriteConcernError()
  );
}

/** Whether an error only says that another write came first, so that the same transaction may be tried again at once. */
export function isWriteConflict(error: unknown): boolean {
  return (
    error instanceof MongoError &&
    !(error instanceof MongoNetworkError) &&
    (error.code === WRITE_CONFLICT || (error.hasErrorLabel('TransientTransactionError') && !isAway(error)))
  );
}

const WRITE_CONFLICT = 112;

/** A primary that steps down or is shut down labels its answers in the same way. */
function isAway(error: MongoError): boolean {
  return (
    error instanceof MongoServerSelectionError ||
    error instanceof MongoNotConnectedError ||
    error.hasErrorLabel('RetryableWriteError') ||
    [91, 189, 10107, 11600, 11602, 13435, 13436].includes(Number(error.code))
  );
}
