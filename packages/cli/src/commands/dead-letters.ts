import { answerOf, type Schemas } from '@waybill/client';
import { Command, Option } from 'commander';
import { type Context, contextOf, examples } from '../context.ts';
import { AnswerIsNo } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import { time } from '../output/words.ts';
import { type PagingOptions, paged, withPaging } from './paging.ts';
import { problemIn } from './problem-of-one.ts';

type DeadLetter = Schemas['DeadLetter'];

interface ListOptions extends PagingOptions {
  readonly kind?: DeadLetter['kind'];
  readonly byReason?: true;
}

export function deadLettersCommand(io: Io): Command {
  const reprocess = new Command('reprocess')
    .summary('sends messages that were put aside to their topics again')
    .description(
      'Sends messages that were put aside to their topics again, each once. A dead delivery is replayed instead: `waybill replay`.',
    )
    .argument('<ids...>', 'of messages')
    .addHelpText('after', examples('waybill dead-letters reprocess 6a1f…'))
    .action((ids: string[], _options: object, command: Command) => reprocessAll(contextOf(command, io), ids));
  const command = new Command('dead-letters')
    .summary('what will not go on by itself')
    .description('Lists dead deliveries and messages that could not be taken, newest first.')
    .addOption(new Option('--kind <kind>', 'only these').choices(['delivery', 'message']))
    .option('--by-reason', 'how many there are for each reason and subscriber or topic')
    .addHelpText(
      'after',
      examples('waybill dead-letters --by-reason --all', 'waybill dead-letters --kind message --json'),
    )
    .addCommand(reprocess);
  return withPaging(command).action((options: ListOptions, command: Command) =>
    listDeadLetters(contextOf(command, io), options),
  );
}

async function listDeadLetters({ output, waybill }: Context, options: ListOptions) {
  const { kind, byReason } = options;
  const letters = paged(options, output, (page) =>
    answerOf(
      waybill.GET('/v1/dead-letters', {
        params: { query: { ...page, ...(kind === undefined ? {} : { kind }) } },
      }),
    ),
  );
  if (byReason) return countByReason(output, letters);
  await output.list(
    letters,
    [
      { title: 'AT', of: ({ at }) => time(at) },
      { title: 'KIND', of: (letter) => letter.kind },
      { title: 'WHAT', of: whatOf },
      { title: 'WHERE', of: whereOf },
      { title: 'REASON', of: ({ reason }) => reason },
      { title: 'ID', of: ({ id }) => id },
      { title: 'DETAIL', of: detailOf },
    ],
    'There are no dead letters.',
  );
}

interface Group {
  readonly kind: DeadLetter['kind'];
  readonly where: string | null;
  readonly reason: string | null;
  count: number;
  readonly newest: string;
}

async function countByReason(output: Context['output'], letters: AsyncIterable<DeadLetter>) {
  const groups = new Map<string, Group>();
  for await (const letter of letters) {
    const where = letter.kind === 'delivery' ? letter.subscriberId : letter.topic;
    const { kind, reason, at } = letter;
    const key = JSON.stringify([kind, where, reason]);
    const group = groups.get(key) ?? { kind, where, reason, count: 0, newest: at };
    group.count += 1;
    groups.set(key, group);
  }
  await output.list(
    [...groups.values()].toSorted((a, b) => b.count - a.count),
    [
      { title: 'COUNT', of: ({ count }) => count, right: true },
      { title: 'KIND', of: ({ kind }) => kind },
      { title: 'WHERE', of: ({ where }) => where },
      { title: 'REASON', of: ({ reason }) => reason },
      { title: 'NEWEST', of: ({ newest }) => time(newest) },
    ],
    'There are no dead letters.',
  );
}

function whatOf(letter: DeadLetter): string | null {
  if (letter.kind === 'delivery') return `${letter.shipmentId} version ${letter.eventVersion}`;
  return letter.key === null ? null : Buffer.from(letter.key, 'base64').toString();
}

function whereOf(letter: DeadLetter): string | null {
  if (letter.kind === 'delivery') return letter.subscriberId;
  return letter.topic === null ? 'http' : `${letter.topic} [${letter.partition}] @ ${letter.offset}`;
}

function detailOf(letter: DeadLetter): string {
  if (letter.kind === 'delivery') return `${letter.attemptCount} attempts`;
  const { reprocess, detail } = letter;
  return reprocess === null ? detail : `sent again ${time(reprocess.begunAt)} by ${reprocess.by}`;
}

interface Reprocessed {
  readonly id: string;
  readonly topic: string | null;
  readonly problem: string | null;
}

async function reprocessAll({ output, waybill }: Context, ids: readonly string[]) {
  let refused = 0;
  async function* results(): AsyncGenerator<Reprocessed> {
    for (const id of ids) {
      try {
        const { topic } = await answerOf(
          waybill.POST('/v1/dead-letters/reprocess', { params: { query: { id } } }),
        );
        yield { id, topic, problem: null };
      } catch (error) {
        const problem = problemIn(error, ['not_found', 'not_reprocessable', 'already_done']);
        refused += 1;
        yield { id, topic: null, problem };
      }
    }
  }
  await output.list(
    results(),
    [
      { title: 'ID', of: ({ id }) => id },
      { title: 'RESULT', of: ({ topic, problem }) => problem ?? `sent to ${topic}` },
    ],
    '',
  );
  if (refused > 0) throw new AnswerIsNo();
}
