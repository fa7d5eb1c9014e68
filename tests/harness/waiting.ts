import { setTimeout as delay } from 'node:timers/promises';
import { vi } from 'vitest';

/** Looks again and again until `look` no longer throws. @throws what it threw last, when the time is over. */
export function eventually<T>(look: () => T | Promise<T>, withinMs = 45_000): Promise<T> {
  return vi.waitFor(look, { timeout: withinMs, interval: 50 });
}

/** Looks again and again for as long as said, and throws as soon as `look` does. */
export async function throughout(forMs: number, look: () => void | Promise<void>): Promise<void> {
  for (const end = performance.now() + forMs; performance.now() < end; ) {
    await look();
    await delay(Math.min(250, Math.max(0, end - performance.now())));
  }
  await look();
}
