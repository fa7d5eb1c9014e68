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
}

/** A delivery's attempts and transitions in one line of time, oldest first. Transitions that an attempt tells are left out. */
export function storyOf(delivery: Pick<Delivery, 'createdAt' | 'attempts' | 'transitions'>): Entry[] {
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
      phases: phasesOf(attempt, beginOf(delivery, attempts[index - 1], attempt)),
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

function phasesOf({ claimedAt, leftAt, endedAt }: Attempt, since: string): Phases {
  const between = (from: string, to: string) => Math.max(0, Date.parse(to) - Date.parse(from));
  const connected = leftAt ?? endedAt;
  return {
    waiting: between(since, claimedAt),
    connecting: connected === null ? null : between(claimedAt, connected),
    answering: leftAt === null || endedAt === null ? null : between(leftAt, endedAt),
  };
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
}

/** @param now for one that is still owed. */
export function timeSpent(delivery: Delivery, now: Date): TimeSpent {
  const phases = storyOf(delivery).flatMap((entry) => (entry.kind === 'attempt' ? [entry.phases] : []));
  const total = Math.max(
    0,
    Date.parse(delivery.closedAt ?? now.toISOString()) - Date.parse(delivery.createdAt),
  );
  const connecting = phases.reduce((sum, phase) => sum + (phase.connecting ?? 0), 0);
  const answering = phases.reduce((sum, phase) => sum + (phase.answering ?? 0), 0);
  return { total, connecting, answering, waiting: Math.max(0, total - connecting - answering) };
}
