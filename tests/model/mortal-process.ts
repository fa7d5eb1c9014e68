import { KafkaUnavailableError, type Producer } from '@waybill/shared/kafka/producer';
import { MongoNetworkError } from 'mongodb';

/**
 * What happens at one call to the database or to Kafka: the process dies, or the call fails and the process lives on;
 * before the call has any effect, or after it had it and nobody was told. Or the process is paused before the call.
 */
export const FAULTS = ['die_before', 'die_after', 'fail_before', 'fail_after', 'pause'] as const;
export type Fault = (typeof FAULTS)[number];

/** Thrown inside a transaction of a dead process: nothing of it may be committed. */
class DeadError extends Error {}

/**
 * A service's process as far as others can tell: what it does to the database, to Kafka and to subscribers goes through
 * here. Once it is dead none of that has any effect or answer, so that its code runs out without leaving a trace. It can
 * be paused, too: then everything waits, and goes on later as if no time had passed.
 */
export class MortalProcess {
  readonly #death = new AbortController();
  #fuse: { calls: number; fault: Fault } | null = null;
  #running: PromiseWithResolvers<void> | null = null;
  #eviction: PromiseWithResolvers<void> = Promise.withResolvers();
  #underway = 0;

  get dead(): boolean {
    return this.#death.signal.aborted;
  }

  /** Aborted when the process dies: what its connections are cut by. */
  get death(): AbortSignal {
    return this.#death.signal;
  }

  get paused(): boolean {
    return this.#running !== null;
  }

  /** Resolves when others notice that it is paused or dead. */
  get evicted(): Promise<void> {
    return this.#eviction.promise;
  }

  /** Nothing of its doing is under way. */
  get idle(): boolean {
    return this.#underway === 0;
  }

  /** Lets so many calls pass and then strikes, once. */
  arm(calls: number, fault: Fault): void {
    this.#fuse = { calls, fault };
  }

  /** Ends what disturbs it. */
  calm(): void {
    this.#fuse = null;
    this.resume();
  }

  pause(): void {
    this.#running ??= Promise.withResolvers();
    this.#eviction.resolve();
  }

  resume(): void {
    if (this.#running === null) return;
    this.#running.resolve();
    this.#running = null;
    this.#eviction = Promise.withResolvers();
  }

  die(): void {
    this.#death.abort();
    this.resume();
    this.#eviction.resolve();
  }

  /** Runs its code. @returns undefined if it died meanwhile: nobody hears what came of it. */
  async live<T>(code: () => Promise<T>): Promise<T | undefined> {
    try {
      const result = await code();
      return this.dead ? undefined : result;
    } catch (error) {
      if (this.dead) return undefined;
      throw error;
    }
  }

  /** Anything of which others notice the effect, such as a request to a subscriber: it only ends early or late. */
  async follow<T>(work: () => Promise<T>): Promise<T> {
    this.#underway += 1;
    try {
      return await work();
    } finally {
      this.#underway -= 1;
    }
  }

  /** A call to the database. @param nothing the answer that has no consequences. */
  database<T>(work: () => Promise<T>, nothing: T, inTransaction = false): Promise<T> {
    return this.#call(work, inTransaction ? deadInTransaction : () => nothing, networkError);
  }

  /** A call to Kafka. */
  kafka(work: () => Promise<void>): Promise<void> {
    return this.#call(
      work,
      () => {},
      () => new KafkaUnavailableError('the model says so'),
    );
  }

  #call<T>(work: () => Promise<T>, afterDeath: () => T, failure: () => Error): Promise<T> {
    return this.follow(async () => {
      await this.#running?.promise;
      if (this.dead) return afterDeath();
      const fault = this.#strike();
      if (fault === 'fail_before') throw failure();
      if (fault === 'die_before') this.die();
      if (fault === 'pause') this.pause();
      await this.#running?.promise;
      if (this.dead) return afterDeath();
      const result = await work();
      if (fault === 'fail_after') throw failure();
      if (fault === 'die_after') this.die();
      await this.#running?.promise;
      return this.dead ? afterDeath() : result;
    });
  }

  #strike(): Fault | null {
    const fuse = this.#fuse;
    if (fuse === null) return null;
    if (fuse.calls > 0) {
      fuse.calls -= 1;
      return null;
    }
    this.#fuse = null;
    return fuse.fault;
  }
}

function deadInTransaction(): never {
  throw new DeadError('the process is dead');
}

const networkError = (): Error => new MongoNetworkError('the model says so');

/** Kafka as a process reaches it. */
export function mortalProducer(process: MortalProcess, append: Producer['send']): Producer {
  return {
    send: (name, values) => process.kafka(() => append(name, values)),
    sendRaw: () => Promise.reject(new Error('nothing here sends raw messages')),
    close: () => Promise.resolve(),
  };
}
