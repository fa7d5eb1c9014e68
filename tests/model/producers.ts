import type { Promised } from '../harness/snapshot.ts';
import type { Mailbox } from './mailbox.ts';
import type { Scheduler } from './services.ts';
import type { EventName } from './steps.ts';

/** Who tells the system of events, and what they were told in return. */
export class Producers {
  readonly #topic: Mailbox<'statusEvents'>;
  readonly #told: Promised[] = [];
  /** Events that were put into Kafka, by offset, and the offsets that fan-out refused. */
  readonly #produced = new Map<string, EventName>();
  readonly #refused = new Set<string>();

  constructor(topic: Mailbox<'statusEvents'>) {
    this.#topic = topic;
  }

  /** Over HTTP. */
  async post(scheduler: Scheduler, events: readonly EventName[]): Promise<void> {
    // One whose server died was told nothing.
    const results = await scheduler.process.live(() => scheduler.post(events.map(statusEventOf)));
    results?.forEach(({ result }, index) => {
      const event = events[index];
      if (event) this.#told.push({ ...nameOf(event), taken: result !== 'conflict' });
    });
  }

  /** Into Kafka. */
  produce(events: readonly EventName[]): void {
    const offsets = this.#topic.append(events.map(statusEventOf));
    events.forEach((event, index) => {
      this.#produced.set(offsets[index] ?? '', event);
    });
  }

  noteRefusals(offsets: Iterable<string>): void {
    for (const offset of offsets) this.#refused.add(offset);
  }

  /** What they may rely on, once everything that is in Kafka was taken. */
  promises(): Promised[] {
    const produced = [...this.#produced].map(([offset, event]) => ({
      ...nameOf(event),
      taken: !this.#refused.has(offset),
    }));
    return [...this.#told, ...produced];
  }
}

function statusEventOf(event: EventName) {
  const { shipmentId, eventVersion, status } = nameOf(event);
  return {
    shipmentId,
    eventVersion,
    status,
    occurredAt: '2026-02-03T04:05:06Z',
    attributes: {},
    data: { status },
  };
}

function nameOf({ shipment, version, status }: EventName): Omit<Promised, 'taken'> {
  return { shipmentId: `SHP-${shipment}`, eventVersion: version, status };
}
