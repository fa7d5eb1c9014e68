/** The jobs that ticks run. */
export const JOBS = ['dispatch', 'retention'] as const;
export type Job = (typeof JOBS)[number];

/**
 * The run's id comes from job and slot alone, so a late, doubled or repeated tick is the same run.
 *
 * @param slot the firing's nominal time; only whole seconds count.
 */
export function runIdOf(job: Job, slot: Date): string {
  return `${job}/${wholeSecond(slot).toISOString().replace('.000Z', 'Z')}`;
}

const FAN_OUT = 'fan-out/';

/** The run that makes the deliveries of a batch of events: the same batch again is the same run. */
export function fanOutRunId(partition: number, firstOffset: string): string {
  return `${FAN_OUT}${partition}@${firstOffset}`;
}

/** Whether a run is that of a fan-out: what it enqueued is new. */
export function isFanOut(runId: string): boolean {
  return runId.startsWith(FAN_OUT);
}

export function wholeSecond(time: Date): Date {
  return new Date(Math.floor(time.getTime() / 1000) * 1000);
}
