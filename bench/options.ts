import { parseArgs } from 'node:util';

/** Sizes of measurements; each suite uses those that mean something to it. */
export interface BenchOptions {
  readonly events: number;
  readonly subscribers: number;
  /** How long receivers take, in milliseconds: one measurement each. */
  readonly delays: readonly number[];
  readonly concurrency: number;
  readonly eventsPerPost: number;
  readonly rounds: number;
  readonly rows: number | undefined;
  readonly history: readonly number[];
  readonly dispatchers: number;
  readonly seconds: number;
}

export interface BenchCommand {
  readonly help: boolean;
  readonly save: boolean;
  readonly suites: readonly string[];
  readonly options: BenchOptions;
}

/** A command line that cannot be followed; the message says which part. */
export class BenchUsageError extends Error {
  override readonly name = 'BenchUsageError';
}

const FULL: BenchOptions = {
  events: 2_000,
  subscribers: 10,
  delays: [0, 50, 500],
  concurrency: 500,
  eventsPerPost: 100,
  rounds: 3,
  rows: undefined,
  history: [0, 100_000, 1_000_000],
  dispatchers: 1,
  seconds: 30,
};

/** To see whether it runs; the figures say nothing. */
const SMALL: BenchOptions = {
  ...FULL,
  events: 20,
  delays: [0],
  concurrency: 50,
  eventsPerPost: 10,
  rounds: 1,
  rows: 200,
  history: [0, 500],
  seconds: 2,
};

export const OPTIONS_HELP = `Options:
  --events N        events of a run (default ${FULL.events})
  --subscribers N   subscribers that want each event (default ${FULL.subscribers})
  --delays MS,…     what receivers take to answer, a measurement each (default ${FULL.delays.join(',')})
  --concurrency N   requests under way at once, over all subscribers (default ${FULL.concurrency})
  --rounds N        runs of each; the median counts (default ${FULL.rounds})
  --rows N          rows of isolation's backlog (default 50000) and of sweep (default 20000)
  --history N,…     old rows that are there already, for backlog (default ${FULL.history.join(',')})
  --dispatchers N   dispatcher processes (default ${FULL.dispatchers})
  --seconds N       how long latency and isolation measure (default ${FULL.seconds}; isolation 60)
  --small           all sizes as small as can be, to see whether it runs
  --save            keep the result in bench/results, with machine and date
  --help            show this
`;

/** Reads the arguments after the script's name. Throws BenchUsageError. */
export function parseBenchCommand(args: readonly string[], known: readonly string[]): BenchCommand {
  const { values, positionals } = parse(args.filter((arg) => arg !== '--'));
  const unknown = positionals.filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new BenchUsageError(`there is no suite ${unknown.join(', ')}`);
  const given = values.small === true ? SMALL : FULL;
  const whole = (name: string, text: string | undefined, otherwise: number, least = 1): number =>
    text === undefined ? otherwise : parseWhole(name, text, least);
  const list = (name: string, text: string | undefined, otherwise: readonly number[]): readonly number[] =>
    text === undefined ? otherwise : text.split(',').map((part) => parseWhole(name, part, 0));
  return {
    help: values.help === true,
    save: values.save === true,
    suites: positionals.length > 0 ? positionals : known,
    options: {
      eventsPerPost: given.eventsPerPost,
      events: whole('events', values.events, given.events),
      subscribers: whole('subscribers', values.subscribers, given.subscribers),
      delays: list('delays', values.delays, given.delays),
      concurrency: whole('concurrency', values.concurrency, given.concurrency),
      rounds: whole('rounds', values.rounds, given.rounds),
      rows: values.rows === undefined ? given.rows : parseWhole('rows', values.rows, 1),
      history: list('history', values.history, given.history),
      dispatchers: whole('dispatchers', values.dispatchers, given.dispatchers),
      seconds: whole('seconds', values.seconds, given.seconds),
    },
  };
}

function parse(args: readonly string[]) {
  const size = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        events: size,
        subscribers: size,
        delays: size,
        concurrency: size,
        rounds: size,
        rows: size,
        history: size,
        dispatchers: size,
        seconds: size,
        small: flag,
        save: flag,
        help: { ...flag, short: 'h' },
      },
    });
  } catch (error) {
    throw new BenchUsageError(error instanceof Error ? error.message : String(error));
  }
}

function parseWhole(name: string, text: string, least: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value) && value >= least) return value;
  throw new BenchUsageError(`--${name} must be a whole number from ${least}, not "${text}"`);
}
