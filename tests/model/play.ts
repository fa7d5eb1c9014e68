import type { DatabaseClock } from '@waybill/shared/stores/database-clock';
import type { DeliveryRow } from '@waybill/shared/stores/deliveries';
import type { Db } from 'mongodb';
import { violationsOf } from '../harness/checker.ts';
import { type Snapshot, takeSnapshot, type Violation } from '../harness/snapshot.ts';
import { perform } from './perform.ts';
import { comeToRest } from './rest.ts';
import { type Story, SUBSCRIBERS } from './steps.ts';
import { isExpected, World } from './world.ts';

/** Of what breaks a rule, so many are told in full. */
const TOLD = 3;

/** A rule did not hold at the end of a story. */
class RuleBrokenError extends Error {}

/**
 * Plays a story in an empty database and lets the system come to rest.
 *
 * @returns what there was to see at the end.
 * @throws RuleBrokenError if a rule does not hold.
 */
export async function play(
  { terms, leaseMs, scenes }: Story,
  db: Db,
  clock: DatabaseClock,
): Promise<Snapshot> {
  const collections = await db.collections();
  await Promise.all(collections.map((collection) => collection.deleteMany({})));
  await using world = await World.open(db, clock, leaseMs);
  for (const id of SUBSCRIBERS) await world.configuration.put(id, terms[id]);

  const surprises: unknown[] = [];
  const underway = new Set<Promise<void>>();
  for (const { step, wait } of scenes.flat()) {
    const made = perform(world, step)
      .catch((error: unknown) => {
        if (!isExpected(error)) surprises.push(error);
      })
      .finally(() => underway.delete(made));
    underway.add(made);
    // Steps of a paused process go on when it does.
    if (wait) await Promise.race([made, ...world.parts.map(({ process }) => process.evicted)]);
  }
  for (const { process } of world.parts) process.calm();
  await Promise.all(underway);
  if (surprises.length > 0) throw new AggregateError(surprises, `unexpected: ${surprises.join('; ')}`);

  const restless = await comeToRest(world);
  const snapshot = {
    ...(await takeSnapshot(db, [world.endpoint])),
    formerSubscribers: world.configuration.noted,
    promises: world.producers.promises(),
  };
  const broken = [...restless, ...violationsOf(snapshot, { atRest: true, requestsMayBeCut: true })];
  if (broken.length > 0) throw new RuleBrokenError(tell(broken, snapshot));
  return snapshot;
}

/** As it can be read: a line per step. */
export function tellStory({ terms, leaseMs, scenes }: Story): string {
  return [
    `leases of ${leaseMs} ms`,
    ...SUBSCRIBERS.map((id) => `${id}: ${JSON.stringify(terms[id])}`),
    ...scenes
      .flat()
      .map(({ step: { do: name, ...rest }, wait }) => `${wait ? '' : '& '}${name} ${JSON.stringify(rest)}`),
  ].join('\n');
}

function tell(broken: readonly Violation[], { deliveries }: Snapshot): string {
  const lines = broken.map(({ rule, id, detail }) => `${rule}: ${id}: ${detail}`);
  const rows = deliveries.filter((row) => broken.slice(0, TOLD).some(({ id }) => id === row._id));
  return [...new Set(lines), ...rows.map(history)].join('\n');
}

function history({
  _id,
  subscriberId,
  shipmentId,
  eventVersion,
  transitions,
  attempts,
}: DeliveryRow): string {
  const time = (at: Date | null) => at?.toISOString().slice(17) ?? '-';
  return [
    `${_id}: version ${eventVersion} of ${shipmentId} for ${subscriberId}`,
    ...transitions.map(({ at, to, cause, reason }) => `  ${time(at)} ${to} by ${cause} ${reason ?? ''}`),
    ...attempts.map(
      ({ number, outcome, reason, statusCode, claimedAt, leaseUntil, leftAt, endedAt, leaseEnd, late }) =>
        `  attempt ${number}: claimed ${time(claimedAt)} until ${time(leaseUntil)}, left ${time(leftAt)}, ended ${time(endedAt)} ` +
        `${outcome} ${reason} ${statusCode} ${leaseEnd}${late ? `, late ${late.outcome}` : ''}`,
    ),
  ].join('\n');
}
