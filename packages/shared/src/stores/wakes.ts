import type { Collection, Db } from 'mongodb';
import type { DeliveryRow } from './deliveries.ts';
import { IN_LANE } from './due-of-subscribers.ts';
import { hintOf } from './indexes.ts';

/** Rows whose commands may have come to nothing, made due for the next dispatch tick. */
export class WakeStore {
  readonly #deliveries: Collection<DeliveryRow>;

  constructor(db: Db) {
    this.#deliveries = db.collection('deliveries');
  }

  /**
   * Makes every queued row of a subscriber due. Dispatchers pass over commands for somebody to whom nothing may be sent,
   * and the tick would not look at those rows before the time of the command is over. A command that is still on its way
   * gets a second one beside it, which finds nothing left to claim.
   */
  async wakeQueuedOf(subscriberId: string): Promise<void> {
    await this.#deliveries.updateMany(
      { subscriberId, ...IN_LANE, state: 'queued', dueAt: { $gt: new Date(0) } },
      [{ $set: { dueAt: { $min: ['$dueAt', '$$NOW'] } } }],
      { hint: hintOf('deliveries', 'lane') },
    );
  }
}
