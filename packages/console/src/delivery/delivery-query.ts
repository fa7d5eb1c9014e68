import { queryOptions } from '@tanstack/react-query';
import { answerOf } from '@waybill/client';
import { type Delivery, waybill } from '../waybill.ts';

const AGAIN_MS = 1_000;

/** Whether it is still owed: then it may change by itself. */
export function isOpen({ closedAt }: Pick<Delivery, 'closedAt'>): boolean {
  return closedAt === null;
}

export const deliveryQuery = (id: string) =>
  queryOptions({
    queryKey: ['delivery', id],
    queryFn: () => answerOf(waybill.GET('/v1/deliveries/{id}', { params: { path: { id } } })),
    refetchInterval: ({ state: { data } }) => (data && isOpen(data) ? AGAIN_MS : false),
  });
