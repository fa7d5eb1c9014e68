import { setTimeout as delay } from 'node:timers/promises';
import { ApiError, answerOf, type Schemas, UnreachableError, type WaybillClient } from '@waybill/client';

type IngestResult = Schemas['IngestResult'];

/** How an entry is named and what its content type is. */
type Format = 'events' | 'cloudevents';

const MEDIA_TYPES: Readonly<Record<Format, string>> = {
  events: 'application/json',
  cloudevents: 'application/cloudevents-batch+json',
};

/** First pause before a request is made again, and longest; a `Retry-After` that is longer wins. Milliseconds. */
const PAUSE_MS = { first: 500, longest: 30_000 };

export interface PostDeps {
  readonly waybill: WaybillClient;
  readonly format: Format;
  /** How long one batch is tried before the command gives up, in milliseconds. */
  readonly giveUpAfterMs: number;
  /** Ends a pause, not a request: its answer is waited for. */
  readonly stopping: AbortSignal;
  readonly onWait: (error: Error, pauseMs: number) => void;
}

/**
 * Posts events until they are answered and gives the answer for each, in their order. 429, 503 and other things that pass
 * are waited for: an event that was taken by a request whose answer was lost is a `duplicate` then.
 *
 * A request that is refused as a whole is made again in halves, so that the event that it is refused for stands alone.
 *
 * @param texts JSON, one event each, sent as they are.
 */
export async function post(texts: readonly string[], deps: PostDeps): Promise<IngestResult[]> {
  try {
    return await persist(texts, deps);
  } catch (error) {
    if (!(error instanceof ApiError) || ![400, 409, 413, 422].includes(error.status)) throw error;
    const results = error.body.results;
    if (Array.isArray(results) && results.length === texts.length) return results as IngestResult[];
    if (texts.length > 1) {
      const half = Math.ceil(texts.length / 2);
      return [...(await post(texts.slice(0, half), deps)), ...(await post(texts.slice(half), deps))];
    }
    const problem = error.body as unknown as NonNullable<IngestResult['problem']>;
    return [{ shipmentId: null, eventVersion: null, result: 'invalid', problem }];
  }
}

async function persist(texts: readonly string[], deps: PostDeps): Promise<IngestResult[]> {
  const since = performance.now();
  for (let pause = PAUSE_MS.first; ; pause = Math.min(2 * pause, PAUSE_MS.longest)) {
    try {
      return await postOnce(texts, deps);
    } catch (error) {
      if (!passes(error)) throw error;
      const asked = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
      // Chance only adds: many that wait for the same do not come back at once.
      const pauseMs = Math.max(asked, pause) * (1 + Math.random() / 4);
      if (performance.now() - since + pauseMs > deps.giveUpAfterMs) throw error;
      deps.onWait(error, pauseMs);
      await delay(pauseMs, undefined, { signal: deps.stopping }).catch(() => {
        throw deps.stopping.reason;
      });
    }
  }
}

/** Whether the same request may succeed later. */
function passes(error: unknown): error is ApiError | UnreachableError {
  return (error instanceof ApiError || error instanceof UnreachableError) && error.retryable;
}

async function postOnce(texts: readonly string[], { waybill, format }: PostDeps): Promise<IngestResult[]> {
  const { results } = await answerOf(
    waybill.POST('/v1/status-events', {
      // What is sent are the texts; the type is for who has values.
      body: [],
      bodySerializer: () => `[${texts.join(',')}]`,
      headers: { 'Content-Type': MEDIA_TYPES[format] },
    }),
  );
  return results;
}
