import { textsIn } from '../search.ts';

/** The dead deliveries that an address names. */
export const deadLettersSearch = (search: Record<string, unknown>) =>
  textsIn(search, ['subscriberId', 'reason', 'shipmentId']);
export type DeadFilter = ReturnType<typeof deadLettersSearch>;
