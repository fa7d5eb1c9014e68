import type { PutAside } from '@waybill/shared/kafka/consumer-loop';
import type { DatabaseClock } from '@waybill/shared/stores/database-clock';
import { type DeadLetterStore, toBinary } from '@waybill/shared/stores/dead-letters';

/** Keeps messages that were put aside in the database as well, where the API shows them and sends them again. */
export function keepDeadLetters(
  deadLetters: DeadLetterStore,
  clock: DatabaseClock,
): (letters: readonly PutAside[]) => Promise<void> {
  return (letters) =>
    deadLetters.insert(
      letters.map(({ topic, partition, offset, reason, detail, key, value, headers }) => ({
        _id: `${topic}/${partition}@${offset}`,
        place: { topic, partition, offset },
        key: key && toBinary(key),
        value: value && toBinary(value),
        headers: headers.map(({ name, value: bytes }) => ({ name, value: toBinary(bytes) })),
        reason,
        detail,
        putAsideAt: clock.now(),
      })),
    );
}
