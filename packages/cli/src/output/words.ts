import type { Schemas } from '@waybill/client';
import { reasonInWords } from '@waybill/shared/domain/words';
import type { Output } from './output.ts';

type Delivery = Schemas['Delivery'];

/** An instant for people: UTC, as in logs and answers, to the millisecond. */
export function time(instant: string | null | undefined): string | null {
  return instant ? instant.replace('T', ' ') : null;
}

/** A state in its colour: whether somebody should look. */
export function paintState(output: Output, state: string): string {
  const name = state.trim();
  if (name === 'delivered') return output.good(state);
  if (name === 'dead') return output.bad(state);
  return name === 'superseded' || name === 'cancelled' ? output.dim(state) : output.doubtful(state);
}

export function paintOutcome(output: Output, outcome: string): string {
  const name = outcome.trim();
  if (name === 'accepted') return output.good(outcome);
  return name === '-' ? outcome : name === 'rejected' ? output.bad(outcome) : output.doubtful(outcome);
}

/** Why a delivery stands where it does: what it waits for, or the reason it ended. */
export function why(delivery: Pick<Delivery, 'waitsFor' | 'reason'>): string | null {
  const { waitsFor, reason } = delivery;
  const words = reason === null ? null : reasonInWords(reason);
  if (waitsFor === null) return words;
  const wait = waitsInWords(waitsFor);
  return words === null ? wait : `${wait} (${words})`;
}

const WAITS: Readonly<Record<NonNullable<Delivery['waitsFor']>['because'], string>> = {
  subscriber_removed: 'its subscriber was removed',
  subscriber_disabled: 'its subscriber is disabled',
  subscriber_quarantined: 'its subscriber is in quarantine',
  earlier_version: 'an earlier version goes first',
  newer_version: 'a newer version is under way',
  subscriber_throttled: 'its subscriber asked for a pause',
  breaker_open: 'its subscriber fails: the breaker is open',
  breaker_probe: 'one request tries whether its subscriber is back',
  next_attempt: 'the next attempt',
  concurrency: 'as many requests as its subscriber takes are under way',
  rate: 'as many requests as its subscriber takes in a second were sent',
};

function waitsInWords({ because, until }: NonNullable<Delivery['waitsFor']>): string {
  return until === null ? `waits: ${WAITS[because]}` : `waits until ${time(until)}: ${WAITS[because]}`;
}
