import { timingSafeEqual } from 'node:crypto';
import type { ApiKey } from '@waybill/shared/config/environment';
import { digestOfSecret } from '@waybill/shared/config/environment';
import type { Role } from '@waybill/shared/contracts/http-api';
import { ProblemError } from '@waybill/shared/domain/errors';
import type { RequestHandler, Response } from 'express';

/** Who calls, by the key the request came with. */
export interface Caller {
  readonly name: string;
  readonly role: Role;
}

/**
 * Knows who calls: `Authorization: Bearer <secret>`, whose digest is compared in constant time with that of every key.
 * Nobody is let through here: see `requireRole`.
 */
export function authentication(keys: readonly ApiKey[]): RequestHandler {
  return (request, response, next) => {
    const given = digestOfSecret(/^Bearer\s+(.+)$/i.exec(request.get('authorization') ?? '')?.[1] ?? '');
    let caller: Caller | null = null;
    for (const { digest, name, role } of keys) {
      if (timingSafeEqual(digest, given)) caller = { name, role };
    }
    if (!caller) {
      response.set('WWW-Authenticate', 'Bearer realm="waybill"');
      throw new ProblemError('unauthenticated', 'send an API key as Authorization: Bearer <key>');
    }
    response.locals.caller = caller;
    next();
  };
}

/** Lets only some roles through; `admin` may do everything. */
export function requireRole(roles: readonly Role[]): RequestHandler {
  return (_request, response, next) => {
    const { role } = callerOf(response);
    if (role !== 'admin' && !roles.includes(role)) {
      throw new ProblemError('forbidden', `the role ${role} may not do that`);
    }
    next();
  };
}

/** Who was let in. */
export function callerOf(response: Response): Caller {
  return response.locals.caller as Caller;
}
