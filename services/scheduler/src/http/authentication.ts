import { createHash, timingSafeEqual } from 'node:crypto';
import type { ApiKey } from '@waybill/shared/config/environment';
import type { Role } from '@waybill/shared/contracts/http-api';
import { ProblemError } from '@waybill/shared/domain/errors';
import type { RequestHandler, Response } from 'express';

interface Caller {
  readonly name: string;
  readonly role: Role;
}

/**
 * Knows who calls: `Authorization: Bearer <secret>`, compared in constant time with every key.
 *
 * @returns a maker of handlers that let only some roles through; `admin` may do everything.
 */
export function authentication(keys: readonly ApiKey[]): (...roles: Role[]) => RequestHandler {
  const known = keys.map(({ name, role, secret }) => ({ name, role, digest: digestOf(secret) }));

  function identify(header: string | undefined): Caller | null {
    const given = digestOf(/^Bearer\s+(.+)$/i.exec(header ?? '')?.[1] ?? '');
    let caller: Caller | null = null;
    for (const { digest, name, role } of known) {
      if (timingSafeEqual(digest, given)) caller = { name, role };
    }
    return caller;
  }

  return (...roles) =>
    (request, response, next) => {
      const caller = identify(request.get('authorization'));
      if (!caller) {
        response.set('WWW-Authenticate', 'Bearer realm="waybill"');
        throw new ProblemError('unauthenticated', 'send an API key as Authorization: Bearer <key>');
      }
      if (caller.role !== 'admin' && !roles.includes(caller.role)) {
        throw new ProblemError('forbidden', `the role ${caller.role} may not do that`);
      }
      response.locals.caller = caller.name;
      next();
    };
}

/** The name of the key that the request came with, for the record. */
export function callerOf(response: Response): string {
  return String(response.locals.caller);
}

function digestOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}
