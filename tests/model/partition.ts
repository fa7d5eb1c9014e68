import { once } from 'node:events';
import type { MortalProcess } from './mortal-process.ts';

/**
 * Who consumes a partition: one process at a time. A dead one loses it; a paused one keeps it, and the others wait. In
 * life it would lose it too, after a while, and go on beside the next one without knowing.
 */
export class Partition {
  #free: Promise<unknown> = Promise.resolve();

  /** Does the work once those before have done theirs or are dead. */
  own(process: MortalProcess, work: () => Promise<void>): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#free = this.#free.then(() => {
      const done = work();
      done.then(resolve, reject);
      return Promise.race([done.catch(() => {}), process.dead ? null : once(process.death, 'abort')]);
    });
    return promise;
  }
}
