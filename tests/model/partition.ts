import type { MortalProcess } from './mortal-process.ts';

/** Who consumes a partition: one process at a time, as far as the group knows. */
export class Partition {
  #free: Promise<unknown> = Promise.resolve();

  /** Does the work once those before have done theirs, or are paused or dead. */
  own(process: MortalProcess, work: () => Promise<void>): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#free = this.#free.then(() => {
      const done = work();
      done.then(resolve, reject);
      return Promise.race([done.catch(() => {}), process.evicted]);
    });
    return promise;
  }
}
