import { type DatabaseClock, startDatabaseClock } from '../stores/database-clock.ts';
import { type LaneGrant, type LaneRequest, type LaneRow, LaneStore } from '../stores/lanes.ts';
import { type OwnDatabase, ownDatabase } from './database.ts';

/** The lanes of a database of their own, and ways to let their time pass. */
export class LaneBench implements AsyncDisposable {
  readonly store: LaneStore;
  readonly #database: OwnDatabase;
  readonly #clock: DatabaseClock;

  constructor(database: OwnDatabase, clock: DatabaseClock) {
    this.#database = database;
    this.#clock = clock;
    this.store = new LaneStore(database.db);
  }

  inMs(ms: number): Date {
    return new Date(this.#clock.now().getTime() + ms);
  }

  /** What an instance gets that wants 12 of 12 slots, unless told otherwise. */
  async ask(
    subscriberId: string,
    instance: string,
    fields: Partial<LaneRequest> = {},
    now = this.inMs(0),
  ): Promise<LaneGrant> {
    const everything = { want: 12, inUse: 0, sends: 12, concurrency: 12, ratePerSecond: undefined };
    const grants = await this.store.acquire([{ ...everything, subscriberId, ...fields }], instance, now);
    const grant = grants.get(subscriberId);
    if (!grant) throw new Error(`no answer for ${subscriberId}`);
    return grant;
  }

  /** The slots that instances get which ask one after the other. */
  async slots(subscriberId: string, ...instances: string[]): Promise<number[]> {
    const slots: number[] = [];
    for (const instance of instances) slots.push((await this.ask(subscriberId, instance)).slots);
    return slots;
  }

  async lane(subscriberId: string): Promise<LaneRow> {
    const lane = await this.store.get(subscriberId);
    if (!lane) throw new Error(`there is no lane of ${subscriberId}`);
    return lane;
  }

  /** As if time had passed: changes the row past the store. */
  async alter(subscriberId: string, change: object): Promise<void> {
    const lanes = this.#database.db.collection<LaneRow>('lanes');
    await lanes.updateOne({ _id: subscriberId }, { $set: change });
  }

  /** As if this holder had not been heard of for the life of its grant. */
  async expire(subscriberId: string, instance: string): Promise<void> {
    const { holders } = await this.lane(subscriberId);
    const at = holders.findIndex((holder) => holder.instance === instance);
    await this.alter(subscriberId, { [`holders.${at}.until`]: this.inMs(-1) });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#clock.stop();
    await this.#database[Symbol.asyncDispose]();
  }
}

export async function openLaneBench(uri: string): Promise<LaneBench> {
  const database = await ownDatabase(uri);
  return new LaneBench(database, await startDatabaseClock(database.db));
}
