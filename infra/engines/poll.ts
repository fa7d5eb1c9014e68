import { setTimeout as delay } from 'node:timers/promises';

/** Resolves once `condition` is true, asking every `intervalMs`. Rejects when `signal` aborts. */
export async function pollUntil(
  condition: () => Promise<boolean>,
  intervalMs: number,
  signal: AbortSignal,
): Promise<void> {
  while (true) {
    signal.throwIfAborted();
    if (await condition()) return;
    await delay(intervalMs, undefined, { signal });
  }
}
