import type { Db } from 'mongodb';
import type { Attempt, TransitionRecord } from '../domain/delivery.ts';
import type { DeliveryRow } from '../stores/deliveries.ts';
import { attempt, deliveryIn, deliveryRow } from './rows.ts';

const at = (second: number) => new Date(Date.UTC(2026, 0, 1) + 1_000 * second);

/** A row that was tried so often, a second apart, each time claimed, refused for the moment and given back. */
export function triedRow(id: string, times: number): DeliveryRow {
  const attempts = Array.from({ length: times }, (_, index) => refused(index + 1));
  const transitions = attempts.flatMap(transitionsOf);
  return { ...deliveryRow(id, { attemptCount: times, tried: true }), attempts, transitions };
}

/** The row as so many attempts more leave it. */
export async function tryAgain(db: Db, { _id, attemptCount }: DeliveryRow, times = 1): Promise<DeliveryRow> {
  const attempts = Array.from({ length: times }, (_, index) => refused(attemptCount + index + 1));
  await db.collection<DeliveryRow>('deliveries').updateOne(
    { _id },
    {
      $inc: { attemptCount: times },
      $push: { attempts: { $each: attempts }, transitions: { $each: attempts.flatMap(transitionsOf) } },
    },
  );
  return deliveryIn(db, _id);
}

function refused(number: number): Attempt {
  const ended = { outcome: 'rejected', statusCode: 429, leaseEnd: 'settled' } as const;
  return attempt(number, { claimedAt: at(number), endedAt: at(number + 0.5), ...ended });
}

function transitionsOf({ number, leaseId }: Attempt): TransitionRecord[] {
  const cause = `lease:${leaseId}`;
  return [
    { at: at(number), from: 'pending', to: 'in_flight', cause, reason: null },
    { at: at(number + 0.5), from: 'in_flight', to: 'pending', cause, reason: 'throttled' },
  ];
}
