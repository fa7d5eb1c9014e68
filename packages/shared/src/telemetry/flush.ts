/** A collector that does not answer must not hold up the end of a process for longer, in milliseconds. */
const FLUSH_WITHIN_MS = 1_000;

let flush: () => Promise<void> = async () => {};

/** Told by the tracing SDK, where one is started, how to send what is left. */
export function onFlush(send: () => Promise<void>): void {
  flush = send;
}

/** Sends spans that are left. Gives up in time, and never fails: traces are no reason for a slow or bad exit. */
export async function flushTelemetry(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, FLUSH_WITHIN_MS);
  await Promise.race([flush().catch(() => {}), promise]);
  clearTimeout(timer);
}
