import { queryOptions, useQuery } from '@tanstack/react-query';
import { ApiError, answerOf, type OperationId, UnreachableError } from '@waybill/client';
import { waybill } from './waybill.ts';

/** A call of the API, as its own document names it. */
export interface Operation {
  readonly id: string;
  readonly summary: string;
  readonly method: string;
  readonly path: string;
  readonly roles: readonly string[];
  /** Whether the audit log records it. */
  readonly audited: boolean;
}

export const callerQuery = queryOptions({
  queryKey: ['caller'],
  queryFn: () => answerOf(waybill.GET('/v1/caller')),
  staleTime: Number.POSITIVE_INFINITY,
});

interface Document {
  readonly paths: Record<
    string,
    Record<
      string,
      { operationId?: string; summary: string; 'x-roles': readonly string[]; 'x-audited': boolean }
    >
  >;
}

export const operationsQuery = queryOptions({
  queryKey: ['operations'],
  async queryFn(): Promise<readonly Operation[]> {
    const request = new Request('/openapi.json');
    const reply = await fetch(request).catch((error: unknown) => {
      throw new UnreachableError(request, error);
    });
    if (!reply.ok) throw new ApiError(request, reply, {});
    const { paths } = (await reply.json()) as Document;
    return Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(
        ([method, { operationId, summary, 'x-roles': roles, 'x-audited': audited }]) =>
          operationId === undefined
            ? []
            : [{ id: operationId, summary, method: method.toUpperCase(), path, roles, audited }],
      ),
    );
  },
  staleTime: Number.POSITIVE_INFINITY,
});

/** Whether a call may be made. Neither `allowed` nor `refused`: that is not known, or not yet. */
interface Permission {
  readonly allowed: boolean;
  readonly refused: boolean;
  /** Why it is not allowed, for people; null where it is, and while that is asked. */
  readonly reason: string | null;
}

/** What the key that is signed in may do. */
export function usePermission(): (operationId: OperationId) => Permission {
  const { data: caller, error: callerError } = useQuery(callerQuery);
  const { data: operations, error: operationsError } = useQuery(operationsQuery);
  return (operationId) => {
    const roles = operations?.find(({ id }) => id === operationId)?.roles;
    if (!caller || !roles) {
      const failed = callerError ?? operationsError;
      const reason = failed ? 'cannot be done now: what this key may do is not known' : null;
      return { allowed: false, refused: false, reason };
    }
    if (roles.includes(caller.role)) return { allowed: true, refused: false, reason: null };
    const reason = `needs the role ${roles.join(' or ')}; this key has ${caller.role}`;
    return { allowed: false, refused: true, reason };
  };
}
