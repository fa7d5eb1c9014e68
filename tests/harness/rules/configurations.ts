import type { SubscriberRow } from '@waybill/shared/stores/subscribers';
import type { Snapshot } from '../snapshot.ts';

/** A subscriber as it was in one of its versions; undefined if that is not known any more. */
export type ConfigurationOf = (subscriberId: string, version: number) => SubscriberRow | undefined;

export function configurationsOf({ subscribers, formerSubscribers = [] }: Snapshot): ConfigurationOf {
  const known = new Map(
    [...formerSubscribers, ...subscribers].map((row) => [`${row._id}/${row.version}`, row]),
  );
  return (subscriberId, version) => known.get(`${subscriberId}/${version}`);
}

/** Every known version of each subscriber. */
export function versionsOf({ subscribers, formerSubscribers = [] }: Snapshot): Map<string, SubscriberRow[]> {
  return Map.groupBy([...formerSubscribers, ...subscribers], (row) => row._id);
}
