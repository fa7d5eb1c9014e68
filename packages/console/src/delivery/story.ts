import type { Attempt, Delivery } from '../waybill.ts';
import { codeWords } from '../words/wait-words.ts';

type Transition = Delivery['transitions'][number];

/** One thing that happened, at its time. */
export type Entry =
  | {
      readonly kind: 'transition';
      readonly at: string;
      readonly transition: Transition;
      readonly words: string;
    }
  | { readonly kind: 'attempt'; readonly at: string; readonly attempt: Attempt; readonly phases: Phases };

/** Where the time of an attempt went, in milliseconds; null: not known. */
export interface Phases {
  /** From when it could have begun (made, the end of the attempt before, a replay) to the claim. */
  readonly waiting: number;
  /** From the claim to the first byte: authentication, name, connection, TLS; all of it if nothing left. */
  readonly connecting: number | null;
  /** From the first byte of the request to the end of the answer. */
  readonly answering: number | null;
  /** What a worker had it for without a word of what it did: it is under way, or the worker was lost. */
  readonly untold: number | null;
}

/**
 * A delivery's attempts and transitions in one line of time, oldest first.
 *
 * @param now until when an attempt that is under way has lasted.
 */
export function storyOf(
  delivery: Pick<Delivery, 'createdAt' | 'attempts' | 'transitions'>,
  now: Date,
): Entry[] {
  const { attempts, transitions } = delivery;
  const told = transitions.map(
    (transition): Entry => ({
      kind: 'transition',
      at: transition.at,
      transition,
      words: transitionWords(transition, attempts),
    }),
  );
  const tried = attempts.map(
    (attempt, index): Entry => ({
      kind: 'attempt',
      at: attempt.claimedAt,
      attempt,
      phases: phasesOf(attempt, beginOf(delivery, attempts[index - 1], attempt), now),
    }),
  );
  // A claim and its attempt have one time: the transition introduces the attempt.
  return [...told, ...tried].sort((a, b) => a.at.localeCompare(b.at) || rank(a) - rank(b));
}

function rank({ kind }: Entry): number {
  return kind === 'transition' ? 0 : 1;
}

/** When an attempt could have begun: the last of its making, the end of the attempt before and a replay in between. */
function beginOf(
  { createdAt, transitions }: Pick<Delivery, 'createdAt' | 'transitions'>,
  before: Attempt | undefined,
  { claimedAt }: Attempt,
): string {
  const since = before?.endedAt ?? before?.leaseUntil ?? createdAt;
  const replays = transitions.filter(
    ({ at, cause }) => cause.startsWith('operator:') && at > since && at <= claimedAt,
  );
  return replays.at(-1)?.at ?? since;
}

function phasesOf(attempt: Attempt, since: string, now: Date): Phases {
  const { outcome, claimedAt, leftAt, endedAt, leaseUntil, leaseEnd } = attempt;
  const between = (from: string, to: string) => Math.max(0, Date.parse(to) - Date.parse(from));
  const waiting = between(since, claimedAt);
  const ended = endedAt ?? (leaseEnd === null ? now.toISOString() : leaseUntil);
  // Only who knows that nothing left, or when it left, can tell connecting from what came after.
  if (leftAt === null && outcome !== 'not_sent')
    return { waiting, connecting: null, answering: null, untold: between(claimedAt, ended) };
  const connecting = between(claimedAt, leftAt ?? ended);
  if (leftAt === null) return { waiting, connecting, answering: null, untold: null };
  if (endedAt === null) return { waiting, connecting, answering: null, untold: between(leftAt, ended) };
  return { waiting, connecting, answering: between(leftAt, endedAt), untold: null };
}

/**
 * Who moved it, and where to. An instant stands in it as the API gives it.
 *
 * @param attempts by these the worker that holds a lease is known.
 */
export function transitionWords(
  { from, to, cause, reason }: Transition,
  attempts: readonly Pick<Attempt, 'leaseId' | 'worker'>[],
): string {
  const why = reason === null ? '' : `: ${codeWords(reason)}`;
  const [kind = '', name = ''] = split(cause);
  const worker = attempts.find(({ leaseId }) => leaseId === name)?.worker ?? 'a worker';
  switch (kind) {
    case 'run':
      if (from === null) return `Made by the fan-out${why}`;
      return `${selected(name, to)}${why}`;
    case 'lease':
      return to === 'in_flight'
        ? `Claimed by ${worker}, under lease ${name}${why}`
        : `${settled(to)} by ${worker}, the holder of lease ${name}${why}`;
    case 'claim':
      return `Ended in the place of a claim${why}`;
    case 'operator':
      return `${to === 'pending' ? 'Replayed' : settled(to)} by the key ${name}${why}`;
    case 'ordering':
      return `Moved by the order of its shipment’s versions${why}`;
    default:
      return `${cause}${why}`;
  }
}

function split(cause: string): string[] {
  const at = cause.indexOf(':');
  return at === -1 ? [cause] : [cause.slice(0, at), cause.slice(at + 1)];
}

/** The slot of a tick is the end of its run's name. */
function selected(run: string, to: Transition['to']): string {
  const slot = run.startsWith('dispatch/') ? run.slice('dispatch/'.length) : null;
  const tick = slot === null ? `run ${run}` : `the dispatch tick of ${slot}`;
  if (to === 'pending') return `Taken back from a worker that was lost by ${tick}`;
  return slot === null && run.startsWith('fan-out/')
    ? 'Handed to the dispatchers by the fan-out'
    : `Selected by ${tick}`;
}

function settled(to: Transition['to']): string {
  if (to === 'pending') return 'Put back for another attempt';
  if (to === 'queued') return 'Queued';
  return to === 'cancelled' ? 'Cancelled' : `Recorded as ${to}`;
}

/** Where the time went between the making of a delivery and its end, or now, in milliseconds. */
export interface TimeSpent {
  readonly total: number;
  readonly waiting: number;
  readonly connecting: number;
  readonly answering: number;
  readonly untold: number | null;
}

/** @param now for one that is still owed. */
export function timeSpent(delivery: Delivery, now: Date): TimeSpent {
  const phases = storyOf(delivery, now).flatMap((entry) => (entry.kind === 'attempt' ? [entry.phases] : []));
  const total = Math.max(
    0,
    Date.parse(delivery.closedAt ?? now.toISOString()) - Date.parse(delivery.createdAt),
  );
  const sumOf = (name: keyof Phases) => phases.reduce((sum, phase) => sum + (phase[name] ?? 0), 0);
  const [connecting, answering, untold] = [sumOf('connecting'), sumOf('answering'), sumOf('untold')];
  const waiting = Math.max(0, total - connecting - answering - untold);
  return { total, connecting, answering, untold: untold === 0 ? null : untold, waiting };
}
