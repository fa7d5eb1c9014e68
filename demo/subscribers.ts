import type { Sample } from './sample-subscriber.ts';

/** Short, so that a run is over in seconds; a real subscriber leaves it out and gets hours. Milliseconds. */
const SHORT_BACKOFF = { initialMs: 100, maxMs: 400, jitter: 0.2 } as const;

/**
 * The sample subscribers. Between them they bring about every outcome: accepted, rejected, unknown and not sent.
 * Ids begin with `demo-`, so that on engines that hold other data nobody else's subscriber is overwritten.
 */
export const SAMPLES: readonly Sample[] = [
  {
    id: 'demo-quick',
    about: 'a pharmacy that wants every status and answers 200 at once',
    scheme: 'http',
    filter: {},
    delivery: { timeoutMs: 5_000, backoff: SHORT_BACKOFF },
    reply: () => ({ status: 200, afterMs: 0 }),
  },
  {
    id: 'demo-flaky',
    about: 'a hospital in the EU that answers 500, then drops the connection, then takes it',
    scheme: 'http',
    filter: { attributes: { region: ['eu'] } },
    delivery: { timeoutMs: 5_000, backoff: SHORT_BACKOFF },
    reply: (time) =>
      time === 1 ? { status: 500, afterMs: 0 } : time === 2 ? 'reset' : { status: 200, afterMs: 0 },
  },
  {
    id: 'demo-slow',
    about: 'a cold store for frozen and cryogenic goods that takes 1.5 s to answer',
    scheme: 'http',
    filter: { attributes: { temperatureClass: ['frozen', 'cryogenic'] } },
    delivery: { timeoutMs: 5_000, backoff: SHORT_BACKOFF },
    reply: () => ({ status: 200, afterMs: 1_500 }),
  },
  {
    id: 'demo-stalling',
    about:
      'a patient app told of arrivals: it takes the first request and never answers it, the second it answers',
    scheme: 'http',
    filter: { statuses: ['delivered'] },
    delivery: { timeoutMs: 1_000, backoff: SHORT_BACKOFF },
    reply: (time) => (time === 1 ? 'silence' : { status: 200, afterMs: 0 }),
  },
  {
    id: 'demo-alerts',
    about: 'an on-call desk that wants only deliveries and exceptions, and answers 202',
    scheme: 'http',
    filter: { statuses: ['delivered', 'exception'] },
    delivery: { timeoutMs: 5_000, backoff: SHORT_BACKOFF },
    reply: () => ({ status: 202, afterMs: 0 }),
  },
  {
    id: 'demo-rejecting',
    about: 'a customs broker that understands nothing it is sent: 422, so it is not asked again',
    scheme: 'http',
    filter: { statuses: ['customs_hold'] },
    delivery: { timeoutMs: 5_000, backoff: SHORT_BACKOFF },
    reply: () => ({ status: 422, afterMs: 0 }),
  },
  {
    id: 'demo-no-tls',
    about: 'an insurer whose URL says https while its server speaks plain HTTP: nothing ever leaves',
    scheme: 'https',
    filter: { statuses: ['exception'] },
    delivery: { timeoutMs: 5_000, maxAttempts: 3, backoff: SHORT_BACKOFF },
    reply: () => ({ status: 200, afterMs: 0 }),
  },
];
