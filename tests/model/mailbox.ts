import { ROOT_CONTEXT } from '@opentelemetry/api';
import type { MessageOf, TopicName } from '@waybill/shared/contracts/topics';
import type { Received, ReceivedBatch } from '@waybill/shared/kafka/consumer-loop';

export const ORDERS = ['sent', 'reversed', 'mixed'] as const;
export type Order = (typeof ORDERS)[number];

/**
 * Stands in for a topic, and does all that Kafka may do: what was sent stays, it is handed out in any order, and again
 * until it is taken.
 */
export class Mailbox<Name extends TopicName> {
  readonly #topic: string;
  readonly #sent: Received<Name>[] = [];
  #left: Received<Name>[] = [];

  constructor(topic: string) {
    this.#topic = topic;
  }

  /** @returns the offsets. */
  append(values: readonly MessageOf<Name>[]): string[] {
    return values.map((value) => {
      const message = { value, offset: String(this.#sent.length), context: ROOT_CONTEXT };
      this.#sent.push(message);
      this.#left.push(message);
      return message.offset;
    });
  }

  get empty(): boolean {
    return this.#left.length === 0;
  }

  /** Up to `count` of what is left, as one batch; null if there is nothing. They stay until they are taken. */
  batch(count: number, order: Order = 'sent'): ReceivedBatch<Name> | null {
    return this.#batchOf(arrange(this.#left, order).slice(0, count));
  }

  /** Everything that was ever sent, as after a loss of the offsets. */
  everything(order: Order = 'sent'): ReceivedBatch<Name> | null {
    return this.#batchOf(arrange(this.#sent, order));
  }

  take({ messages }: ReceivedBatch<Name>): void {
    const offsets = new Set(messages.map(({ offset }) => offset));
    this.#left = this.#left.filter(({ offset }) => !offsets.has(offset));
  }

  #batchOf(messages: readonly Received<Name>[]): ReceivedBatch<Name> | null {
    const firstOffset = messages[0]?.offset;
    return firstOffset === undefined ? null : { topic: this.#topic, partition: 0, firstOffset, messages };
  }
}

function arrange<T>(items: readonly T[], order: Order): T[] {
  if (order === 'sent') return [...items];
  const reversed = items.toReversed();
  if (order === 'reversed') return reversed;
  return items.flatMap((item, index) => [item, reversed[index] ?? item]).slice(0, items.length);
}
