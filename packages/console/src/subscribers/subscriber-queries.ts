import { queryOptions } from '@tanstack/react-query';
import { answerOf } from '@waybill/client';
import { waybill } from '../waybill.ts';

const AGAIN_MS = 5_000;

export const subscriberQuery = (id: string) =>
  queryOptions({
    queryKey: ['subscriber', id],
    queryFn: () => answerOf(waybill.GET('/v1/subscribers/{id}', { params: { path: { id } } })),
    refetchInterval: AGAIN_MS,
  });

export const healthQuery = (id: string) =>
  queryOptions({
    queryKey: ['subscriber-health', id],
    queryFn: () => answerOf(waybill.GET('/v1/subscribers/{id}/health', { params: { path: { id } } })),
    refetchInterval: AGAIN_MS,
  });
