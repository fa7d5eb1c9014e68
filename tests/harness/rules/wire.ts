import type { Attempt } from '@waybill/shared/domain/delivery';
import type { CheckOptions, Snapshot, Violation, WireRequest } from '../snapshot.ts';
import { configurationsOf } from './configurations.ts';

/** What endpoints received and said is what the rows say was sent and answered. */
export function brokenRequests(snapshot: Snapshot, { requestsMayBeCut = false }: CheckOptions): Violation[] {
  const { deliveries, events, requests } = snapshot;
  const found: Violation[] = [];
  const rows = new Map(deliveries.map((row) => [row._id, row]));
  const bodies = new Map(events.map((event) => [event._id, event.body]));
  const configurationOf = configurationsOf(snapshot);
  const byAttempt = new Map<string, WireRequest>();

  for (const request of requests) {
    const report = (rule: string, detail: string) =>
      found.push({ rule, id: `${request.address} #${request.number}`, detail });
    const row = rows.get(request.key ?? '');
    const attempt = row?.attempts.find(({ number }) => number === request.attempt);
    if (!row || !attempt) {
      report('requests belong to an attempt', `key ${request.key}, attempt ${request.attempt}`);
      continue;
    }
    const name = `${row._id}/${attempt.number}`;
    const twin = byAttempt.get(name);
    if (twin) report('one request per attempt', `${name} was request ${twin.number} already`);
    byAttempt.set(name, request);
    if (attempt.outcome === 'not_sent') report('not sent means nothing came', name);
    checkAnswer(attempt, request, (detail) => report('answers are recorded as given', `${name} ${detail}`));
    if (request.method !== 'POST') report('requests are POSTs', `${name} is ${request.method}`);
    const body = bodies.get(`${row.shipmentId}:${row.eventVersion}`);
    if (body !== undefined && !request.body.equals(Buffer.from(body))) {
      report('every request carries the stored bytes', `${name} has ${request.body.length} others`);
    }
    const configuration = configurationOf(row.subscriberId, attempt.subscriberVersion);
    const address = configuration ? addressOf(configuration.url) : request.address;
    if (request.address !== address) report('requests go to their subscriber', `${name} is for ${address}`);
  }

  for (const row of deliveries) {
    for (const attempt of row.attempts) {
      if (byAttempt.has(`${row._id}/${attempt.number}`) || !mustHaveArrived(attempt, requestsMayBeCut))
        continue;
      const detail = `attempt ${attempt.number} ended ${attempt.outcome} (${attempt.reason}) and nothing came`;
      found.push({ rule: 'attempts that left came', id: row._id, detail });
    }
  }
  return [...found, ...changedBodies(requests)];
}

function checkAnswer(
  { outcome, statusCode }: Attempt,
  { answered }: WireRequest,
  report: (detail: string) => void,
): void {
  const saidYes = answered !== null && answered >= 200 && answered <= 299;
  if (saidYes && outcome === 'rejected') report(`was answered ${answered} and is recorded as rejected`);
  if (!saidYes && outcome === 'accepted') report(`was answered ${answered} and is recorded as accepted`);
  const conclusive = outcome === 'accepted' || outcome === 'rejected';
  if (conclusive && statusCode !== answered) {
    report(`was answered ${answered} and is recorded with status ${statusCode}`);
  }
}

/** A worker that died may have died before it wrote; a row in flight may not have been written yet. */
function mustHaveArrived({ outcome, reason, statusCode, late }: Attempt, requestsMayBeCut: boolean): boolean {
  if (outcome === null || outcome === 'not_sent') return false;
  if (outcome === 'accepted' || outcome === 'rejected' || statusCode !== null) return true;
  if (reason === 'worker_lost') return late?.outcome === 'accepted' || late?.outcome === 'rejected';
  return !requestsMayBeCut;
}

function changedBodies(requests: readonly WireRequest[]): Violation[] {
  const first = new Map<string, WireRequest>();
  const rule = 'a key has the same bytes on every attempt';
  return requests.flatMap((request) => {
    if (request.key === null) return [];
    const before = first.get(request.key);
    if (!before) first.set(request.key, request);
    if (!before || before.body.equals(request.body)) return [];
    return [{ rule, id: request.key, detail: `attempts ${before.attempt} and ${request.attempt} differ` }];
  });
}

function addressOf(url: string): string {
  const { host, pathname, search } = new URL(url);
  return host + pathname + search;
}
