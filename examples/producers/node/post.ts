/** A client of `POST /v1/status-events`. Needs Node ≥ 22.18 and nothing else. */

import { setTimeout as delay } from 'node:timers/promises';

export interface StatusEvent {
  shipmentId: string;
  /** Grows with every change of the shipment. */
  eventVersion: number;
  status: string;
  /** RFC 3339. */
  occurredAt: string;
  attributes?: Record<string, string>;
  data?: unknown;
  eventId?: string;
}

/** What became of one event, in the order in which they were posted. */
export interface Result {
  shipmentId: string | null;
  eventVersion: number | null;
  /** `duplicate`: taken before. `conflict` and `invalid` stay refused however often they are posted. */
  result: 'accepted' | 'duplicate' | 'conflict' | 'invalid';
  problem?: { title: string; detail?: string; faults?: { path: string; message: string }[] };
}

/** @returns one result per event, once Waybill has decided about each. */
export type Post = (events: readonly unknown[]) => Promise<Result[]>;

/** Most events that one request may hold. */
export const BATCH = 500;

const ANSWER_WITHIN_MS = 30_000;
const LONGEST_WAIT_MS = 60_000;

export interface PosterOptions {
  /** Where the API is. */
  readonly url: string;
  /** The secret of a key of role `ingest`. */
  readonly apiKey: string;
  /** Of what is posted; `application/cloudevents-batch+json` for CloudEvents. */
  readonly contentType?: string;
  /** Ends the waiting. */
  readonly signal?: AbortSignal;
}

/**
 * Posts until there is an answer about each event. A broken connection, a 429 or a 5xx leave open what was taken, so the
 * same batch is posted again, for as long as it takes: events that were taken come back as duplicates.
 *
 * The promise it returns rejects for what trying again cannot help: a wrong key, a body that is too large.
 */
export function poster({ url, apiKey, contentType = 'application/json', signal }: PosterOptions): Post {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': contentType };
  return async (events) => {
    const body = JSON.stringify(events);
    for (let attempt = 0; ; attempt += 1) {
      const deadline = AbortSignal.timeout(ANSWER_WITHIN_MS);
      const request = {
        method: 'POST',
        headers,
        body,
        signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
      };
      const answer = await fetch(new URL('/v1/status-events', url), request).catch((error: unknown) => {
        if (signal?.aborted) throw error;
        return null;
      });
      const text = (await answer?.text().catch(() => null)) ?? null;
      if (answer && text !== null && !isWorthAnotherTry(answer.status)) {
        const results = resultsIn(text);
        if (results !== null) return results;
        throw new Error(`Waybill answered ${answer.status}: ${text}`);
      }
      const wanted = Number(answer?.headers.get('retry-after') ?? 0) * 1_000;
      const backoff = 250 * 2 ** attempt * (1 + Math.random());
      await delay(Math.min(Math.max(wanted, backoff), LONGEST_WAIT_MS), undefined, signal ? { signal } : {});
    }
  };
}

function isWorthAnotherTry(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

/** 202, and a refusal of every single entry (409, 413, 422), say what became of each; null for any other answer. */
function resultsIn(text: string): Result[] | null {
  try {
    return JSON.parse(text).results ?? null;
  } catch {
    return null;
  }
}
