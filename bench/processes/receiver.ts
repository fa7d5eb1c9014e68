import { type Child, startChild } from './child.ts';

export interface ReceiverTerms {
  /** How long it takes to answer, in milliseconds. */
  readonly delayMs: number;
  /** Whether it notes which event came when. Costs it a look into each body. */
  readonly record: boolean;
}

export interface Arrival {
  /** The event's shipment. */
  readonly subject: string;
  /** When the head of the request was there, milliseconds since the epoch, with a fraction. */
  readonly at: number;
}

/** All subscribers of a measurement: an HTTP server in a process of its own that answers 200 with nothing. */
export class Receiver implements AsyncDisposable {
  readonly pid: number;
  readonly origin: string;
  readonly #child: Child;

  private constructor(child: Child, port: number) {
    this.#child = child;
    this.pid = child.pid;
    this.origin = `http://127.0.0.1:${port}`;
  }

  static async start(): Promise<Receiver> {
    const child = await startChild('receiver-process.ts');
    return new Receiver(child, await child.ask<number>('port'));
  }

  url(subscriber: number): string {
    return `${this.origin}/hook/${subscriber}`;
  }

  /** Where requests are taken and never answered. They are not counted. */
  get neverUrl(): string {
    return `${this.origin}/never`;
  }

  /** Forgets what came before. */
  begin(terms: Partial<ReceiverTerms> = {}): Promise<void> {
    return this.#child.ask('begin', { delayMs: 0, record: false, ...terms });
  }

  /** Resolves when so many requests have come since `begin`. */
  reached(count: number): Promise<void> {
    return this.#child.ask('reached', count);
  }

  received(): Promise<number> {
    return this.#child.ask('received');
  }

  arrivals(): Promise<readonly Arrival[]> {
    return this.#child.ask('arrivals');
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#child[Symbol.asyncDispose]() as Promise<void>;
  }
}
