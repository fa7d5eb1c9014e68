import { adviceFor } from '@waybill/shared/domain/advice';
import { durationWords } from './duration.ts';

type Reason = Parameters<typeof adviceFor>[1];

/** What is told of an attempt; times as the API gives them. */
export interface ToldAttempt {
  readonly number: number;
  readonly outcome: 'accepted' | 'rejected' | 'unknown' | 'not_sent' | null;
  readonly reason: string | null;
  readonly statusCode: number | null;
  readonly worker: string;
  readonly claimedAt: string;
  readonly leftAt: string | null;
  readonly endedAt: string | null;
}

/**
 * What happened in one attempt, in a sentence that a clinic can be told. Instants stand in it as the API gives them.
 *
 * @param subscriberId who was to get it.
 */
export function attemptStory(attempt: ToldAttempt, subscriberId: string): string {
  const { outcome, reason, statusCode, worker, claimedAt, leftAt, endedAt } = attempt;
  const answered = leftAt && endedAt ? ` after ${durationWords(between(leftAt, endedAt))}` : '';
  const left = leftAt ? `The request left at ${leftAt}` : 'When the request left is not known';
  const mayHave = `${subscriberId} may have received it.`;
  switch (outcome) {
    case null:
      return leftAt
        ? `${left}; the answer has not come yet.`
        : `${worker} took it at ${claimedAt}; nothing more is recorded yet.`;
    case 'accepted':
      return `${left} and ${subscriberId} answered ${statusCode ?? 'yes'}${answered}: it was received.`;
    case 'rejected':
      return `${left} and was answered ${statusCode ?? 'no'}${answered}: ${subscriberId} did not take it.`;
    case 'not_sent':
      return `Nothing was sent to ${subscriberId}.`;
    case 'unknown':
      if (reason === 'worker_lost')
        return `${worker} took it at ${claimedAt} and was lost before it recorded an end: ${mayHave}`;
      if (reason === 'timeout' && leftAt && endedAt)
        return `${left} and no answer came within ${durationWords(between(claimedAt, endedAt))}: ${mayHave}`;
      if (reason === 'gateway')
        return `${left} and a gateway answered ${statusCode ?? ''}${answered} for it: ${mayHave}`;
      return `${left} and no whole answer came back: ${mayHave}`;
  }
}

/** What it means and what to do; null while the attempt is under way. */
export function attemptAdvice({ outcome, reason }: Pick<ToldAttempt, 'outcome' | 'reason'>): string | null {
  if (outcome === null) return null;
  // Reasons of a later release may come from an older row; then there is no advice.
  return adviceFor(outcome, reason as Reason) ?? null;
}

function between(from: string, to: string): number {
  return Date.parse(to) - Date.parse(from);
}
