import type { Document } from 'mongodb';
import { TRANSITIONS, type TransitionName } from '../domain/transitions.ts';

export interface TransitionOptions {
  /** As it is, or as an aggregation expression where it differs from row to row. */
  readonly cause: string | Document;
  readonly reason?: string | null;
  /** When somebody must look again, from the database's now. Left out: never, the row is closed. */
  readonly dueInMs?: number | Document;
  /** Further fields of the same write, as aggregation expressions. */
  readonly set?: Document;
}

/**
 * Long histories move to the archive with their attempts; this only bounds a row that is held and looked at again for
 * years without one.
 */
const MAX_TRANSITIONS_IN_ROW = 2_000;

/** Keeps a value from being read as an expression: a reason may begin with `$`. */
export const literal = (value: unknown): Document => ({ $literal: value });

/** Of `$$this` attempt: a time of its own, which the claim's was before, by whatever clock it was taken. */
export function notBeforeClaim(time: unknown): Document {
  return { $max: [time, '$$this.claimedAt'] };
}

/** An update's time is that of its beginning; one that had to wait follows what it waited for all the same. */
const AT: Document = { $max: ['$$NOW', { $last: '$transitions.at' }] };

/**
 * Attempts, none of them open: one that still is when somebody else moves the row on has lost its worker, and whether its
 * request arrived nobody can say.
 */
export const LOST_ATTEMPTS_ENDED: Document = {
  $map: {
    input: '$attempts',
    in: {
      $cond: [
        { $eq: ['$$this.outcome', null] },
        {
          $mergeObjects: [
            '$$this',
            {
              outcome: 'unknown',
              reason: 'worker_lost',
              endedAt: notBeforeClaim('$$NOW'),
              leaseEnd: 'expired',
            },
          ],
        },
        '$$this',
      ],
    },
  },
};

/**
 * One write that makes either of two transitions, row by row: a field that only one of them sets stays as it is in the
 * other.
 */
export function either(condition: Document, then: Document[], otherwise: Document[]): Document[] {
  const [first, second] = [fieldsOf(then), fieldsOf(otherwise)];
  const names = [...new Set([...Object.keys(first), ...Object.keys(second)])];
  const choice = (name: string) => ({
    $cond: [condition, first[name] ?? `$${name}`, second[name] ?? `$${name}`],
  });
  return [{ $set: Object.fromEntries(names.map((name) => [name, choice(name)])) }];
}

function fieldsOf([stage]: Document[]): Document {
  return stage?.$set ?? {};
}

/**
 * The update that makes a transition: state, `dueAt`, and the entry of the history, in one write, all times by
 * the database's clock. A row that is in the target state already gets no entry, except by a claim, which
 * always begins a lease of its own.
 */
export function transition(name: TransitionName, options: TransitionOptions): Document[] {
  const { to, fenced } = TRANSITIONS[name];
  const { cause, reason = null, dueInMs, set = {} } = options;
  const entry = {
    at: AT,
    from: '$state',
    to: literal(to),
    cause: typeof cause === 'string' ? literal(cause) : cause,
    reason: literal(reason),
  };
  const appended = { $slice: [{ $concatArrays: ['$transitions', [entry]] }, -MAX_TRANSITIONS_IN_ROW] };
  const closed = dueInMs === undefined;
  return [
    {
      $set: {
        state: literal(to),
        transitions:
          name === 'claim' ? appended : { $cond: [{ $eq: ['$state', to] }, '$transitions', appended] },
        dueAt: closed ? '$$REMOVE' : { $add: ['$$NOW', dueInMs] },
        ...(closed ? { closedAt: AT, reason: literal(reason) } : {}),
        ...(closed && !fenced ? { attempts: LOST_ATTEMPTS_ENDED } : {}),
        ...set,
      },
    },
  ];
}
