/**
 * Checks what must always hold, from the database and the endpoints' own logs alone: it asks no service, so it can say
 * whether what the services claim is true.
 *
 * For a system at rest. Give it every endpoint that a subscriber of this database ever pointed to.
 */

import { brokenEvents } from './rules/events.ts';
import { brokenLimits } from './rules/limits.ts';
import { brokenNumbers } from './rules/numbering.ts';
import { brokenOrder } from './rules/ordering.ts';
import { brokenPromises, brokenRest } from './rules/rest.ts';
import { brokenRows } from './rules/rows.ts';
import { brokenRequests } from './rules/wire.ts';
import type { CheckOptions, Snapshot, Violation } from './snapshot.ts';

/** Everything that is wrong; empty when all rules hold. */
export function violationsOf(snapshot: Snapshot, options: CheckOptions = {}): Violation[] {
  return [
    ...brokenRows(snapshot),
    ...brokenEvents(snapshot),
    ...brokenRequests(snapshot, options),
    ...brokenOrder(snapshot),
    ...brokenNumbers(snapshot),
    ...brokenLimits(snapshot),
    ...brokenPromises(snapshot),
    ...(options.atRest ? brokenRest(snapshot) : []),
  ];
}
