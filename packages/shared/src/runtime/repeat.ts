/**
 * Does something every so often, never twice at once: what is still under way when its time comes again lets that one
 * pass. A failure is handed to `onError`, and the next time comes all the same.
 *
 * @returns stops it; what is under way goes on to its end.
 */
export function repeat(
  everyMs: number,
  work: () => Promise<void>,
  onError: (error: unknown) => void,
): () => void {
  let underWay = false;
  const timer = setInterval(async () => {
    if (underWay) return;
    underWay = true;
    try {
      await work();
    } catch (error) {
      onError(error);
    } finally {
      underWay = false;
    }
  }, everyMs);
  return () => clearInterval(timer);
}
