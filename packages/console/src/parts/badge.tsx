import type { Delivery } from '../waybill.ts';
import css from './parts.module.css';

type Tone = 'good' | 'bad' | 'warn' | 'busy' | 'plain';
type State = Delivery['state'];
type Outcome = NonNullable<Delivery['attempts'][number]['outcome']>;

const STATES: Readonly<Record<State, { tone: Tone; words: string }>> = {
  pending: { tone: 'warn', words: 'owed' },
  queued: { tone: 'busy', words: 'queued' },
  in_flight: { tone: 'busy', words: 'being sent' },
  delivered: { tone: 'good', words: 'delivered' },
  dead: { tone: 'bad', words: 'dead' },
  superseded: { tone: 'plain', words: 'superseded' },
  cancelled: { tone: 'plain', words: 'cancelled' },
};

const OUTCOMES: Readonly<Record<Outcome, { tone: Tone; words: string }>> = {
  accepted: { tone: 'good', words: 'accepted' },
  rejected: { tone: 'bad', words: 'rejected' },
  unknown: { tone: 'warn', words: 'unknown' },
  not_sent: { tone: 'bad', words: 'not sent' },
};

/** A state as people are told it, wherever it stands in a text. */
export function stateWords(state: string): string {
  return Object.hasOwn(STATES, state) ? STATES[state as State].words : state.replaceAll('_', ' ');
}

export function Badge({ tone, children }: { tone: Tone; children: React.ReactNode }) {
  return <span className={`${css.badge} ${css[tone]}`}>{children}</span>;
}

export function StateBadge({ state }: { state: State }) {
  const { tone, words } = STATES[state];
  return <Badge tone={tone}>{words}</Badge>;
}

/** @param outcome null: the attempt is under way. */
export function OutcomeBadge({ outcome }: { outcome: Outcome | null }) {
  const { tone, words } =
    outcome === null ? { tone: 'busy' as const, words: 'under way' } : OUTCOMES[outcome];
  return <Badge tone={tone}>{words}</Badge>;
}
