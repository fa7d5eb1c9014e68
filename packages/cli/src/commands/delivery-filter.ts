import { DELIVERY_STATES } from '@waybill/shared/domain/delivery';
import { OUTCOMES } from '@waybill/shared/domain/outcome';
import { type Command, Option } from 'commander';
import { readInstant } from '../arguments.ts';

type State = (typeof DELIVERY_STATES)[number];
type Outcome = (typeof OUTCOMES)[number];

export interface FilterOptions {
  readonly shipment?: string;
  readonly subscriber?: string;
  readonly state?: State;
  readonly outcome?: Outcome;
  readonly from?: string;
  readonly to?: string;
}

/** The conditions that the API knows for deliveries; all that are given have to hold. */
export function withFilter(command: Command): Command {
  return command
    .option('--shipment <id>', 'of one shipment')
    .option('--subscriber <id>', 'for one subscriber')
    .addOption(new Option('--state <state>', 'in one state').choices(DELIVERY_STATES))
    .addOption(new Option('--outcome <outcome>', 'whose last attempt ended so').choices(OUTCOMES))
    .option('--from <time>', 'created at or after: 2026-05-04T03:00:00Z, or 2h ago', readInstant)
    .option('--to <time>', 'created before', readInstant);
}

/** As the API's query names them. */
export function filterOf({ shipment, subscriber, state, outcome, from, to }: FilterOptions) {
  return {
    ...(shipment === undefined ? {} : { shipmentId: shipment }),
    ...(subscriber === undefined ? {} : { subscriberId: subscriber }),
    ...(state === undefined ? {} : { state }),
    ...(outcome === undefined ? {} : { outcome }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  };
}
