import { answerOf } from '@waybill/client';
import { Command } from 'commander';
import { type Context, contextOf, examples } from '../context.ts';
import { AnswerIsNo, CommandError } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import { type FilterOptions, filterOf, withFilter } from './delivery-filter.ts';
import { problemIn } from './problem-of-one.ts';

interface ReplayOptions extends FilterOptions {
  readonly yes?: true;
}

/** What a replay makes owed again. */
const REPLAYABLE = ['delivered', 'dead', 'cancelled'];

export function replayCommand(io: Io): Command {
  const command = new Command('replay')
    .summary('makes closed deliveries owed again, under the same keys')
    .description(
      'Makes delivered, dead and cancelled deliveries owed again, under the same idempotency keys: by their ids, or all that a filter finds. Without --yes it only says how many that would be.',
    )
    .argument('[ids...]', 'deliveries; none where a filter is given')
    .addHelpText(
      'after',
      examples(
        'waybill replay --subscriber clinic --state dead --from 24h',
        'waybill replay --subscriber clinic --state dead --from 24h --yes',
        'waybill replay dlv_… --yes',
      ),
    );
  return withFilter(command)
    .option('--yes', 'do it, instead of saying what would be done')
    .action((ids: string[], options: ReplayOptions, command: Command) => {
      const filtered = Object.keys(filterOf(options)).length > 0;
      if (filtered === ids.length > 0)
        throw new CommandError(
          'usage',
          'name deliveries by their ids, or by at least one condition, not by both',
        );
      const context = contextOf(command, io);
      return filtered ? replayFilter(context, options) : replayOnes(context, ids, options);
    });
}

async function replayFilter({ output, waybill }: Context, options: ReplayOptions) {
  const dryRun = options.yes ? 'false' : 'true';
  const answer = await answerOf(
    waybill.POST('/v1/deliveries/replay', { params: { query: { ...filterOf(options), dryRun } } }),
  );
  output.one(answer, () => {
    output.line(
      `${answer.deliveries} deliveries ${answer.dryRun ? 'would be owed again' : 'are owed again'}`,
    );
    if (answer.dryRun && answer.deliveries > 0) output.note('Nothing was changed: --yes does it.');
  });
}

/** What became of one of them; of a dry run, what would. */
interface Replayed {
  readonly id: string;
  readonly replayed: boolean;
  readonly state: string | null;
  readonly problem: string | null;
}

async function replayOnes({ output, waybill }: Context, ids: readonly string[], { yes }: ReplayOptions) {
  let refused = 0;
  async function* results(): AsyncGenerator<Replayed> {
    for (const id of ids) {
      const result = yes ? await replayOne(waybill, id) : await lookAt(waybill, id);
      if (result.problem !== null) refused += 1;
      yield result;
    }
  }
  await output.list(
    results(),
    [
      { title: 'DELIVERY', of: ({ id }) => id },
      { title: 'STATE', of: ({ state }) => state },
      {
        title: 'RESULT',
        of: ({ replayed, problem }) => problem ?? (replayed ? 'owed again' : 'would be owed again'),
      },
    ],
    '',
  );
  if (!yes) output.note('Nothing was changed: --yes does it.');
  if (refused > 0) throw new AnswerIsNo();
}

async function replayOne(waybill: Context['waybill'], id: string): Promise<Replayed> {
  try {
    const { state } = await answerOf(
      waybill.POST('/v1/deliveries/{id}/replay', { params: { path: { id } } }),
    );
    return { id, replayed: true, state, problem: null };
  } catch (error) {
    return { id, replayed: false, state: null, problem: problemIn(error, ['not_found', 'not_replayable']) };
  }
}

async function lookAt(waybill: Context['waybill'], id: string): Promise<Replayed> {
  try {
    const { state } = await answerOf(waybill.GET('/v1/deliveries/{id}', { params: { path: { id } } }));
    const problem = REPLAYABLE.includes(state) ? null : `only ${REPLAYABLE.join(', ')} can be replayed`;
    return { id, replayed: false, state, problem };
  } catch (error) {
    return { id, replayed: false, state: null, problem: problemIn(error, ['not_found', 'not_replayable']) };
  }
}
