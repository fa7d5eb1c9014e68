import { bodyOf, deliveriesOf, type Load, makeEvents } from '../load/events.ts';
import { type Child, startChild } from '../processes/child.ts';
import type { Receiver } from '../processes/receiver.ts';
import type { Subject } from './subject.ts';

/** The first yardstick: the same number of requests with the same body from one loop, nothing recorded. */
export class BareLoop implements Subject, AsyncDisposable {
  readonly #child: Child;
  readonly #receiver: Receiver;

  private constructor(child: Child, receiver: Receiver) {
    this.#child = child;
    this.#receiver = receiver;
  }

  static async start(receiver: Receiver): Promise<BareLoop> {
    return new BareLoop(await startChild('../subjects/bare-loop-process.ts'), receiver);
  }

  processes() {
    return { loop: [this.#child.pid] };
  }

  carry(load: Load): Promise<number> {
    const [event] = makeEvents(1);
    return this.#child.ask<number>('post', {
      origin: this.#receiver.origin,
      count: deliveriesOf(load),
      concurrency: load.concurrency,
      body: event ? bodyOf(event) : '',
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#child[Symbol.asyncDispose]();
  }
}
