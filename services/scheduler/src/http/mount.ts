import type { ApiKey } from '@waybill/shared/config/environment';
import type { Express, RequestHandler } from 'express';
import { type AuditDeps, isAudited, recorded } from './audit.ts';
import { authentication, callerOf, requireRole } from './authentication.ts';
import { hasNoBody, mediaTypeOf, rawBody } from './body.ts';
import { sendStream, wantsStream } from './event-stream.ts';
import { rateLimit } from './rate-limit.ts';
import { readCall } from './read-call.ts';
import type { Route } from './route.ts';

interface MountDeps extends AuditDeps {
  readonly apiKeys: readonly ApiKey[];
  readonly requestsPerSecond: number;
}

/**
 * Serves every route of the table, each the same way: who calls, how often, whether they may; only then is the body
 * read; what the request says is judged by the route's schemas; changes go through the audit log.
 */
export function mount<Deps extends MountDeps>(
  app: Express,
  routes: readonly Route<Deps>[],
  deps: Deps,
): void {
  const identified = [authentication(deps.apiKeys), rateLimit(deps.requestsPerSecond)];
  for (const route of routes) {
    const path = route.path.replaceAll(/\{(\w+)\}/g, ':$1');
    app[route.method](path, identified, requireRole(route.roles), bodyOf(route), handler(route, deps));
  }
}

function bodyOf<Deps>({ body }: Route<Deps>): RequestHandler[] {
  if (!body) return [];
  const accepted = Object.keys(body.content);
  const checkType: RequestHandler = (request, _response, next) => {
    if (!(body.optional && hasNoBody(request))) mediaTypeOf(request, accepted);
    next();
  };
  return [checkType, rawBody(body.maxBytes)];
}

function handler<Deps extends MountDeps>(route: Route<Deps>, deps: Deps): RequestHandler {
  return async (request, response) => {
    const call = readCall(route, request, callerOf(response));
    if (wantsStream(route, request)) {
      sendStream(route, response, deps);
      return;
    }
    const change = () => route.handle(call, deps);
    const reply = await (isAudited(route) ? recorded(route, call, deps, change) : change());
    response.status(reply.status);
    if ('body' in reply) response.json(reply.body);
    else response.end();
  };
}
