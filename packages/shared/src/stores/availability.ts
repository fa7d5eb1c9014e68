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
