import { SAMPLES } from '../subscribers.ts';

/** The first sample subscriber listens here, the others on the ports that follow. */
const FIRST_PORT = 9_001;

/** The port of a sample subscriber in its container. */
export function portOf(subscriberId: string): number {
  return FIRST_PORT + SAMPLES.findIndex(({ id }) => id === subscriberId);
}

/** Where a sample subscriber says what it received; below the address that also serves `/readyz`. */
export function countPath(subscriberId: string): string {
  return `/received/${subscriberId}`;
}
