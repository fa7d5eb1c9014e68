/**
 * What a request gives, or an error once `timeoutMs` have passed. The request itself goes on: what it asked for may
 * still happen.
 */
export async function inTime<T>(request: Promise<T>, timeoutMs: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  try {
    return await Promise.race([request, promise]);
  } finally {
    clearTimeout(timer);
  }
}
