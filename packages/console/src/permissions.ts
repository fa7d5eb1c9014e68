import { queryOptions, useQuery } from '@tanstack/react-query';
import { answerOf } from '@waybill/client';
import { waybill } from './waybill.ts';

/** A call of the API, as its own document names it. */
export interface Operation {
  readonly id: string;
  readonly summary: string;
  readonly method: string;
  readonly path: string;
  readonly roles: readonly string[];
}

export const callerQuery = queryOptions({
  queryKey: ['caller'],
  queryFn: () => answerOf(waybill.GET('/v1/caller')),
  staleTime: Number.POSITIVE_INFINITY,
});

interface Document {
  readonly paths: Record<
    string,
    Record<string, { operationId?: string; summary: string; 'x-roles': readonly string[] }>
  >;
}

export const operationsQuery = queryOptions({
  queryKey: ['operations'],
  async queryFn(): Promise<readonly Operation[]> {
    const reply = await fetch('/openapi.json');
    if (!reply.ok) throw new Error(`/openapi.json was answered ${reply.status}`);
    const { paths } = (await reply.json()) as Document;
    return Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { operationId, summary, 'x-roles': roles }]) =>
        operationId === undefined
          ? []
          : [{ id: operationId, summary, method: method.toUpperCase(), path, roles }],
      ),
    );
  },
  staleTime: Number.POSITIVE_INFINITY,
});

/** What the key that is signed in may do; `reason` is for people, null where it may. */
export function usePermission(): (operationId: string) => { allowed: boolean; reason: string | null } {
  const { data: caller } = useQuery(callerQuery);
  const { data: operations } = useQuery(operationsQuery);
  return (operationId) => {
    const roles = operations?.find(({ id }) => id === operationId)?.roles;
    if (!caller || !roles) return { allowed: false, reason: null };
    if (roles.includes(caller.role)) return { allowed: true, reason: null };
    return { allowed: false, reason: `needs the role ${roles.join(' or ')}; this key has ${caller.role}` };
  };
}
