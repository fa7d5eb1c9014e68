import { subscriberInput } from '@waybill/shared/contracts/subscriber';
import type { SubscriberRow } from '@waybill/shared/stores/subscribers';
import type { Db } from 'mongodb';
import type { Endpoint } from '../harness/endpoint.ts';
import type { Scheduler } from './services.ts';
import type { SubscriberName, Terms } from './steps.ts';

/** Below what the API lets through, so that an endpoint that never answers costs little time. */
const TIMEOUT_MS = 300;
const ROLE = 'operator';

/** Changes subscribers, by whatever scheduler there is, and notes every version of them. */
export class Configuration {
  /** As they were after each change. */
  readonly noted: SubscriberRow[] = [];
  readonly #db: Db;
  readonly #endpoint: Endpoint;
  readonly #scheduler: () => Scheduler;
  #tail: Promise<void> = Promise.resolve();

  constructor(db: Db, endpoint: Endpoint, scheduler: () => Scheduler) {
    this.#db = db;
    this.#endpoint = endpoint;
    this.#scheduler = scheduler;
  }

  put(id: SubscriberName, terms: Terms): Promise<void> {
    const { path, onlyExceptions, ...delivery } = terms;
    const input = subscriberInput.parse({
      url: this.#endpoint.receiver.url(`/${id}/${path}`),
      filter: onlyExceptions ? { statuses: ['exception'] } : {},
      delivery: { ...delivery, backoff: { initialMs: 10, maxMs: 40, jitter: 0 } },
    });
    const quick = {
      ...input,
      auth: { type: 'none' as const },
      delivery: { ...input.delivery, timeoutMs: TIMEOUT_MS },
    };
    return this.#change(id, ({ subscribers }) => subscribers.put(id, quick, ROLE));
  }

  /** As the API does it. */
  change(id: SubscriberName, to: 'enable' | 'disable' | 'delete'): Promise<void> {
    return this.#change(id, async ({ subscribers, deliveries, lanes }) => {
      if (to === 'delete') {
        await subscribers.delete(id, ROLE);
        await deliveries.cancelOf(id, `operator:${ROLE}`, 'subscriber_removed');
      } else {
        await subscribers.setEnabled(id, to === 'enable', ROLE);
        if (to === 'enable') await lanes.close(id);
      }
    });
  }

  /** One after the other: attempts name the version they used, so none may be missed. */
  #change(id: SubscriberName, change: (by: Scheduler) => Promise<unknown>): Promise<void> {
    const changed = this.#tail.then(async () => {
      try {
        const scheduler = this.#scheduler();
        await scheduler.process.live(() => change(scheduler));
      } finally {
        const row = await this.#db.collection<SubscriberRow>('subscribers').findOne({ _id: id });
        if (row) this.noted.push(row);
      }
    });
    this.#tail = changed.catch(() => {});
    return changed;
  }
}
