import { renderAudit } from './audit.ts';
import { SHIPMENTS, sampleEvents, shipmentIdOf } from './events.ts';
import { play, readRecord, type Scene } from './play.ts';
import { reconcile } from './reconcile.ts';
import { SAMPLES } from './subscribers.ts';
import { renderSummary, renderVerdict } from './summary.ts';
import type { WaybillApi } from './waybill-api.ts';

/**
 * Plays, and prints what came of it.
 *
 * @param beforePrinting makes room for what is printed.
 * @returns whether every delivery became terminal and the record agrees with what the subscribers counted.
 */
export async function tell(
  scene: Scene,
  print: (text: string) => void,
  beforePrinting: () => void = () => {},
): Promise<boolean> {
  const open = await play(scene).catch((error: unknown) => {
    scene.signal.throwIfAborted();
    throw error;
  });
  const record = await readRecord(scene);
  const counts = await Promise.all(
    scene.subscribers.map(async ({ sample, received }) => ({
      subscriberId: sample.id,
      received: [...(await received())],
    })),
  );
  // What is under way is not on record yet, so there is nothing to compare.
  const discrepancies = open.length > 0 ? [] : reconcile(record, scene.events, counts);
  beforePrinting();
  print(`\n${renderAudit(record, scene.events)}\n${renderSummary(record, counts)}\n`);
  print(`${renderVerdict(record, counts, open, discrepancies)}\n`);
  return open.length === 0 && discrepancies.length === 0;
}

/** What is going to be played, for people. */
export function introduction(): string {
  const events = sampleEvents(1).length;
  const subscribers = SAMPLES.map(({ id, about }) => `  ${id.padEnd(16)}${about}\n`).join('');
  return `${events} status events of ${SHIPMENTS} shipments, for these subscribers:\n\n${subscribers}\n`;
}

/** Number of the first shipment that is not there: on engines that hold an earlier run, the one after it. */
export async function freeNumber(api: WaybillApi): Promise<number> {
  let number = 1;
  while ((await api.shipment(shipmentIdOf(number))) !== null) number += SHIPMENTS;
  return number;
}

/** Engines that stay would go on sending to endpoints that are gone. What cannot be removed is noted. */
export async function removeSubscribers(api: WaybillApi, note: (line: string) => void): Promise<void> {
  for (const { id } of SAMPLES) {
    await api.deleteSubscriber(id).catch((error: unknown) => {
      note(`subscriber ${id} is left behind: ${error instanceof Error ? error.message : String(error)}`);
    });
  }
}
