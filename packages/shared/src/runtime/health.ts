import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import express, { type Express } from 'express';
import { collectDefaultMetrics, register } from 'prom-client';
import type { Logger } from '../telemetry/logger.ts';
import { closeMethods, notFound, problemHandler } from './http-problems.ts';
import { createLimitedServer, type ServerLimits } from './http-server.ts';
import type { Refresh } from './measure.ts';
import { timeRequests } from './request-metrics.ts';

// Of the process: memory, processor time, event loop, garbage collection.
collectDefaultMetrics();

const CHECK_TIMEOUT_MS = 2_000;
const DROP_IDLE_EVERY_MS = 20;

/** For a browser that is led here: guess no type, run nothing, show it in no frame, keep and tell nobody anything. */
const SECURITY_HEADERS = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
};

/** One thing a service needs. Throws, or takes too long, when it is not there. */
export type Check = (timeoutMs: number) => Promise<unknown>;

/**
 * `/healthz` (the process answers), `/readyz` (everything it needs answers, else 503 naming what does not) and
 * `/metrics` (Prometheus). No key is asked for.
 *
 * @param refresh measures what has to be asked for, before a scrape is answered.
 */
export function healthRoutes(
  checks: Readonly<Record<string, Check>>,
  refresh: Refresh = async () => {},
): Express {
  const app = express();
  app.disable('x-powered-by');
  // Nothing here may be kept, so nothing is compared with what somebody has kept.
  app.disable('etag');
  app.use((_request, response, next) => {
    response.set(SECURITY_HEADERS);
    next();
  });
  app.get('/healthz', (_request, response) => {
    response.json({ status: 'ok' });
  });
  app.get('/readyz', async (_request, response) => {
    const results = await Promise.all(
      Object.entries(checks).map(async ([name, check]) => [name, await faultOf(check)] as const),
    );
    const ready = results.every(([, fault]) => fault === null);
    response.status(ready ? 200 : 503).json({
      status: ready ? 'ready' : 'not ready',
      checks: Object.fromEntries(results.map(([name, fault]) => [name, fault ?? 'ok'])),
    });
  });
  app.get('/metrics', async (_request, response) => {
    await refresh();
    response.type(register.contentType).send(await register.metrics());
  });
  closeMethods(app.router);
  app.use(timeRequests);
  return app;
}

/** Those routes alone, for a service that serves nothing else. */
export function healthApp(
  checks: Readonly<Record<string, Check>>,
  logger: Logger,
  refresh?: Refresh,
): Express {
  return healthRoutes(checks, refresh).use(notFound).use(problemHandler(logger));
}

async function faultOf(check: Check): Promise<string | null> {
  try {
    await check(CHECK_TIMEOUT_MS);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

export interface Listening {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Listens on one address, or with `0.0.0.0` on all; resolves when it does. Closing lets open requests end and drops idle
 * connections.
 */
export async function listen(
  app: Express,
  port: number,
  host = '127.0.0.1',
  limits?: ServerLimits,
): Promise<Listening> {
  const server = createLimitedServer(app, limits).listen(port, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      // A connection whose request was under way is kept alive after it, and nobody closes it then.
      const dropping = setInterval(() => server.closeIdleConnections(), DROP_IDLE_EVERY_MS);
      await closed.promise;
      clearInterval(dropping);
    },
  };
}
