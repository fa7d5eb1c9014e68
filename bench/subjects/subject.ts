import type { Load } from '../load/events.ts';
import { rounded } from '../measure/percentiles.ts';
import { cpuPerDelivery, meter, type Processes } from '../measure/processes.ts';

/** What one run of a load came to. */
export interface Measured {
  readonly deliveriesPerSecond: number;
  /** Microseconds of processor time by process, and in all. */
  readonly cpuMicrosPerDelivery: Readonly<Record<string, number>>;
  readonly peakRssMb: Readonly<Record<string, number>>;
  readonly tookMs: number;
}

/** Something that carries events to subscribers. */
export interface Subject {
  /** Those whose processor time counts. */
  processes(): Processes | Promise<Processes>;
  /** Carries the load from its first event to its last recorded outcome. @returns how long that took in milliseconds. */
  carry(load: Load): Promise<number>;
}

export async function measure(
  subject: Subject,
  load: Load,
  receiver: { readonly pid: number },
): Promise<Measured> {
  const used = await meter({ ...(await subject.processes()), receiver: [receiver.pid] });
  const tookMs = await subject.carry(load);
  const usage = await used();
  const deliveries = load.events * load.subscribers;
  return {
    deliveriesPerSecond: rounded((deliveries / tookMs) * 1_000, 0),
    cpuMicrosPerDelivery: cpuPerDelivery(usage, deliveries),
    peakRssMb: usage.peakRssMb,
    tookMs: rounded(tookMs, 0),
  };
}
