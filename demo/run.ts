import { buildConsoleMeanwhile } from '@waybill/infra/console/build';
import { type Stack, startStack } from '@waybill/infra/stack/start';
import { startSubscriberTracer } from '@waybill/shared/testing/subscriber-tracer';
import { sampleEvents } from './events.ts';
import { readRecord, type Scene } from './play.ts';
import type { Progress } from './progress.ts';
import { type Received, SampleSubscriber } from './sample-subscriber.ts';
import { SAMPLES } from './subscribers.ts';
import { freeNumber, introduction, removeSubscribers, tell } from './tell.ts';
import { invitation } from './try-it.ts';
import { WaybillApi } from './waybill-api.ts';

/** So that the time is seen to go by while engines start, which takes minutes the first time. Milliseconds. */
const SHOW_EVERY_MS = 500;

export interface DemoOptions {
  /** End after the audit instead of serving on until `signal`. */
  readonly once: boolean;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  readonly progress: Progress;
  /** For what people are to keep: the audit, the summary. */
  readonly print: (text: string) => void;
}

/**
 * The whole demo, from nothing to nothing: whatever way it ends, what it started is stopped by then. Only when `signal`
 * ends it while the stack is being started, that start goes on until this process exits.
 *
 * @returns whether every delivery became terminal and the record agrees with what the subscribers counted.
 * @throws the reason of `signal` when that ends it early, or why something could not be started.
 */
export async function runDemo(options: DemoOptions): Promise<boolean> {
  const { once, env, progress, print } = options;
  await using resources = new AsyncDisposableStack();
  const subscribers = await Promise.all(SAMPLES.map((sample) => new SampleSubscriber(sample).listen()));
  for (const subscriber of subscribers) resources.defer(() => subscriber.close());
  print(introduction());

  const stack = await start(letThrough(env, subscribers), options);
  resources.defer(() => stack.stop());
  const failed = new AbortController();
  void stack.failed.then((error) => failed.abort(error));
  const signal = AbortSignal.any([options.signal, failed.signal]);
  // Who ends after the audit looks at no page, and the page is served as soon as it is there.
  if (!once) buildConsoleMeanwhile(progress.note, signal);

  if (stack.traces !== null) {
    const tracer = startSubscriberTracer(stack.traces, 'demo-subscribers');
    resources.defer(() => tracer.close().catch(() => {}));
    for (const subscriber of subscribers) subscriber.tracer = tracer;
  }
  const api = apiOf(stack);
  if (env.MONGODB_URI) resources.defer(() => removeSubscribers(api, progress.note));
  const events = sampleEvents(await freeNumber(api));
  const listeners = subscribers.map(({ sample, url, received }) => ({
    sample,
    url,
    received: async () => received,
  }));
  const scene: Scene = { api, subscribers: listeners, events, show: progress.show, signal };
  const good = await tell(scene, print, () => progress.clear());
  if (once || !good) return good;

  print(invitation(api, await readRecord(scene), subscribers, stack.ready.jaeger));
  for (const subscriber of subscribers) {
    subscriber.onReceived = (received) => print(`${receipt(subscriber.sample.id, received)}\n`);
  }
  await aborted(signal);
  progress.note('stopping');
  if (failed.signal.aborted) throw failed.signal.reason;
  return true;
}

/** @throws the reason of `signal` at once when that comes first. */
async function start(env: NodeJS.ProcessEnv, { signal, progress }: DemoOptions): Promise<Stack> {
  const showing = setInterval(() => progress.show('starting engines and services'), SHOW_EVERY_MS);
  try {
    const stack = await Promise.race([
      startStack({ env, jaeger: 'cached', progress: progress.note }),
      aborted(signal),
    ]);
    if (!stack) throw signal.reason;
    return stack;
  } finally {
    clearInterval(showing);
  }
}

/** The environment with every sample subscriber, and nothing else, let through the egress guard besides. */
function letThrough(env: NodeJS.ProcessEnv, subscribers: readonly SampleSubscriber[]): NodeJS.ProcessEnv {
  const allowed = [env.WAYBILL_EGRESS_ALLOW ?? '', ...subscribers.map(({ authority }) => authority)];
  return { ...env, WAYBILL_EGRESS_ALLOW: allowed.filter((entry) => entry !== '').join(',') };
}

function apiOf({ ready }: Stack): WaybillApi {
  const { ingest, operator, admin } = ready.apiKeys;
  if (admin === null)
    throw new Error('the demo makes subscribers: WAYBILL_API_KEYS needs a key of role admin');
  return new WaybillApi(ready.scheduler, { ingest: ingest ?? admin, operator: operator ?? admin, admin });
}

function receipt(subscriberId: string, { idempotencyKey, reply }: Received): string {
  const answer = typeof reply === 'string' ? reply : `${reply.status}`;
  return `${new Date().toISOString()}  ${subscriberId} received ${idempotencyKey || 'a request without a key'}: ${answer}`;
}

async function aborted(signal: AbortSignal): Promise<undefined> {
  if (signal.aborted) return;
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}
