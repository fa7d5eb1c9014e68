import { setTimeout as delay } from 'node:timers/promises';
import { ApiError, answerOf, ForeignAnswerError, type Schemas, UnreachableError } from '@waybill/client';
import { Command, Option } from 'commander';
import { atLeast, readInstant } from '../arguments.ts';
import { type Context, contextOf, examples } from '../context.ts';
import type { Io } from '../io.ts';
import { Table } from '../output/table.ts';
import { paintOutcome, paintState, time } from '../output/words.ts';
import { type Change, Follower } from '../tail/follower.ts';

type Delivery = Schemas['Delivery'];

interface TailOptions {
  readonly shipment?: string;
  readonly subscriber?: string;
  readonly from?: string;
  readonly interval: number;
}

/** Deliveries per page, pages per look, and deliveries that are looked at one by one. */
const PAGE = 200;
const MOST_PAGES = 5;
const MOST_SINGLE = 50;
/** Time between two looks, in milliseconds: while something happens, and at least. */
const BUSY_INTERVAL_MS = 200;
const LEAST_INTERVAL_MS = 100;

export function tailCommand(io: Io): Command {
  return new Command('tail')
    .summary('what happens to deliveries, as it happens')
    .description(
      'Shows every transition of deliveries as it happens, until it is stopped with Ctrl-C. It follows what is created from then on (or since --from) by asking again and again, also across a restart of the scheduler; when more happens than it can follow, it says so.',
    )
    .option('--shipment <id>', 'of one shipment')
    .option('--subscriber <id>', 'for one subscriber')
    .option('--from <time>', 'follow what was created since: 2026-05-04T03:00:00Z, or 2h ago', readInstant)
    .addOption(
      new Option('--interval <span>', 'longest time between two looks, while nothing happens')
        .argParser(atLeast(LEAST_INTERVAL_MS, '100ms'))
        .default(1_000, '1s'),
    )
    .addHelpText(
      'after',
      examples('waybill tail', 'waybill tail --subscriber clinic --from 15m', 'waybill tail --json'),
    )
    .action((options: TailOptions, command: Command) => follow(contextOf(command, io), options));
}

async function follow(context: Context, options: TailOptions): Promise<void> {
  const { io, output, waybill } = context;
  const follower = new Follower();
  const table = new Table<Change>([
    { title: 'AT', of: ({ at }) => time(at) },
    { title: 'SHIPMENT', of: ({ shipmentId }) => shipmentId },
    { title: 'VERSION', of: ({ eventVersion }) => eventVersion, right: true },
    { title: 'SUBSCRIBER', of: ({ subscriberId }) => subscriberId },
    { title: 'FROM', of: ({ from }) => from },
    { title: 'TO', of: ({ to }) => to, paint: (cell) => paintState(output, cell) },
    { title: 'OUTCOME', of: ({ outcome }) => outcome, paint: (cell) => paintOutcome(output, cell) },
    { title: 'REASON', of: ({ reason }) => reason },
    { title: 'DELIVERY', of: ({ deliveryId }) => deliveryId },
  ]);
  let from = options.from;
  let away = false;
  try {
    for (;;) {
      let pauseMs = options.interval;
      try {
        from ??= await serverTime(waybill);
        const changes = follower.take(await look(context, follower, { ...options, from }));
        if (away) output.note('It answers again.');
        away = false;
        for (const change of changes)
          if (output.json) output.document(change);
          else for (const line of table.lines([change])) output.line(line);
        if (changes.length > 0) pauseMs = Math.min(pauseMs, BUSY_INTERVAL_MS);
      } catch (error) {
        if (!passes(error)) throw error;
        if (!away) output.note(`${error.message}; trying again`);
        away = true;
        if (error instanceof ApiError) pauseMs = Math.max(pauseMs, error.retryAfterMs ?? 0);
      }
      await delay(pauseMs, undefined, { signal: io.stopping });
    }
  } catch (error) {
    // Ctrl-C is how it is meant to end.
    if (!io.stopping.aborted) throw error;
  }
}

/** A gateway may answer in the place of a scheduler that is being restarted. */
function passes(error: unknown): error is Error {
  if (error instanceof ApiError || error instanceof UnreachableError) return error.retryable;
  return error instanceof ForeignAnswerError;
}

/** The clock that deliveries are created by may differ from this machine's. */
async function serverTime(waybill: Context['waybill']): Promise<string> {
  const { response } = await waybill.GET('/v1/deliveries', { params: { query: { limit: 1 } } });
  const date = new Date(response.headers.get('date') ?? Date.now());
  return date.toISOString();
}

async function look(
  { output, waybill }: Context,
  follower: Follower,
  { shipment, subscriber, from }: TailOptions & { readonly from: string },
): Promise<Delivery[]> {
  const filter = {
    from,
    limit: PAGE,
    ...(shipment === undefined ? {} : { shipmentId: shipment }),
    ...(subscriber === undefined ? {} : { subscriberId: subscriber }),
  };
  const found: Delivery[] = [];
  let cursor: string | null = null;
  let pages = 0;
  do {
    const query: typeof filter & { cursor?: string } = cursor === null ? filter : { ...filter, cursor };
    const page: { items: Delivery[]; nextCursor: string | null } = await answerOf(
      waybill.GET('/v1/deliveries', { params: { query } }),
    );
    found.push(...page.items);
    cursor = page.nextCursor;
    pages += 1;
    // Newest first: behind a page of nothing but known ones there is nothing unknown.
    if (page.items.every(({ id }) => follower.knows(id))) break;
  } while (cursor !== null && pages < MOST_PAGES);
  if (pages === MOST_PAGES && cursor !== null)
    output.note(`more than ${MOST_PAGES * PAGE} deliveries since the last look: some are passed over`);
  const seen = new Set(found.map(({ id }) => id));
  const others = follower.open(seen, MOST_SINGLE);
  for (const id of others) {
    try {
      found.push(await answerOf(waybill.GET('/v1/deliveries/{id}', { params: { path: { id } } })));
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 404)) throw error;
      follower.forget(id);
    }
  }
  return found;
}
