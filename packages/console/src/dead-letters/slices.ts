/** What a replay of many asks for at once. */
export interface Slice {
  readonly subscriberId: string;
  readonly reason?: string;
  readonly shipmentId?: string;
  /** When its deliveries were made: from, and before. */
  readonly from: string;
  readonly to: string;
}

interface Group {
  readonly subscriberId: string;
  readonly reason: string | null;
  readonly count: number;
  readonly madeFrom: string;
  readonly madeTo: string;
}

interface Filter {
  readonly subscriberId?: string;
  readonly reason?: string;
  readonly shipmentId?: string;
}

/** About so many deliveries per slice, and most slices of one group. */
const SLICE = { deliveries: 500, most: 50 };

/**
 * A large replay in parts, so that its progress can be seen and it can be stopped between two of them: one part per group
 * and stretch of time.
 *
 * @param groups the dead deliveries that are there.
 */
export function slicesOf(filter: Filter, groups: readonly Group[]): Slice[] {
  return groups
    .filter(
      ({ subscriberId, reason }) =>
        (filter.subscriberId === undefined || filter.subscriberId === subscriberId) &&
        (filter.reason === undefined || filter.reason === reason),
    )
    .flatMap(({ subscriberId, reason, count, madeFrom, madeTo }) => {
      const from = Date.parse(madeFrom);
      // `to` is exclusive, and the last of them is to be in.
      const to = Date.parse(madeTo) + 1;
      const parts = Math.min(SLICE.most, Math.max(1, Math.ceil(count / SLICE.deliveries)), to - from);
      const bound = (part: number) => new Date(from + Math.floor(((to - from) * part) / parts)).toISOString();
      const named = {
        subscriberId,
        ...(reason === null ? {} : { reason }),
        ...(filter.shipmentId === undefined ? {} : { shipmentId: filter.shipmentId }),
      };
      return Array.from({ length: parts }, (_, part) => ({
        ...named,
        from: bound(part),
        to: bound(part + 1),
      }));
    });
}
