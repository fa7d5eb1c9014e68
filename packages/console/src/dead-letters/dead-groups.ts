import { queryOptions } from '@tanstack/react-query';
import { answerOf } from '@waybill/client';
import { waybill } from '../waybill.ts';

export const deadGroupsQuery = queryOptions({
  queryKey: ['dead-groups'],
  queryFn: () => answerOf(waybill.GET('/v1/dead-letters/groups')),
});

export type DeadGroup = Awaited<
  ReturnType<NonNullable<(typeof deadGroupsQuery)['queryFn']>>
>['items'][number];
