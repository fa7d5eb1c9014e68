import { ApiError, createWaybillClient, type Schemas } from '@waybill/client';
import { currentKey, signOut } from './session.ts';

export type Delivery = Schemas['Delivery'];
export type Attempt = Delivery['attempts'][number];
export type Shipment = Schemas['Shipment'];
export type Subscriber = Schemas['Subscriber'];

/** Long enough for the largest part of a replay; whoever waits longer is told, in milliseconds. */
const ANSWER_WITHIN_MS = 60_000;
const here = { baseUrl: location.origin, apiKey: currentKey };

/** The API that this page came from, called with the key of this tab. */
export const waybill = createWaybillClient({ ...here, answerWithinMs: ANSWER_WITHIN_MS });

/** The same for an answer that has no end: who reads it says how long it may be silent. */
export const streaming = createWaybillClient(here);

/** A key that is no longer known signs out, so that the page asks for another. */
export function onFault(error: unknown): void {
  if (error instanceof ApiError && error.status === 401) signOut();
}

/** Whether trying again may help. */
export function isPassing(failures: number, error: unknown): boolean {
  return failures < 2 && !(error instanceof ApiError && !error.retryable);
}

/** Until it is tried again, in milliseconds: as long as the API asks for, and longer each time. */
export function retryDelay(failures: number, error: unknown): number {
  const asked = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
  return Math.max(asked, 1_000 * 2 ** failures);
}
