import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 20;
/** Long, for a machine with much else to do: what comes is seen at once, however long was allowed for. */
const DEADLINE_MS = 45_000;

/**
 * Asks again and again until the answer is neither false nor missing.
 *
 * @param what is waited for, in words: the message when it does not come in time.
 * @returns the answer.
 */
export async function until<Answer>(
  what: string,
  ask: () => Answer | Promise<Answer>,
  withinMs = DEADLINE_MS,
): Promise<NonNullable<Exclude<Answer, false>>> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const answer = await ask();
    if (answer !== false && answer !== null && answer !== undefined) {
      return answer as NonNullable<Exclude<Answer, false>>;
    }
    if (performance.now() > deadline) throw new Error(`waited ${withinMs} ms in vain: ${what}`);
    await delay(POLL_MS);
  }
}
