/**
 * Exits with 0 if the service in this container is ready: it and every engine that it needs answer. Anything else
 * exits with 1 and says why, which `docker inspect` shows. Needs nothing but Node: the image has no curl.
 */

/** Below the time that the HEALTHCHECK of the image grants, so that the reason is still told. */
const TIMEOUT_MS = 4_000;

try {
  const url = `http://127.0.0.1:${process.env.HTTP_PORT || 8080}/readyz`;
  const reply = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  process.stdout.write(`${reply.status} ${await reply.text()}\n`);
  process.exitCode = reply.ok ? 0 : 1;
} catch (error) {
  process.stdout.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
