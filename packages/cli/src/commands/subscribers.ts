import { answerOf, type Schemas } from '@waybill/client';
import { Command } from 'commander';
import { type Context, contextOf, examples } from '../context.ts';
import { AnswerIsNo } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import { visible } from '../output/table.ts';
import { paintOutcome, time } from '../output/words.ts';
import { applyCommand } from './apply.ts';
import { type PagingOptions, paged, withPaging } from './paging.ts';

type Subscriber = Schemas['Subscriber'];

export function subscribersCommand(io: Io): Command {
  const ofOne = (
    name: string,
    summary: string,
    description: string,
    act: (context: Context, id: string) => Promise<void>,
  ) =>
    new Command(name)
      .summary(summary)
      .description(description)
      .argument('<id>', 'its id')
      .addHelpText('after', examples(`waybill subscribers ${name} clinic`))
      .action((id: string, _options: object, command: Command) => act(contextOf(command, io), id));

  const list = withPaging(new Command('list'))
    .summary('subscribers by id')
    .description('Lists subscribers by id.')
    .addHelpText('after', examples('waybill subscribers list', 'waybill subscribers list --all --json'))
    .action((options: PagingOptions, command: Command) => listSubscribers(contextOf(command, io), options));

  return new Command('subscribers')
    .summary('who is told, and on what terms')
    .description('Who is told, and on what terms.')
    .addCommand(applyCommand(io))
    .addCommand(list)
    .addCommand(
      ofOne(
        'get',
        'one, with what dispatchers learnt about it',
        'Shows a subscriber, with what dispatchers learnt about it. Of secrets only their fingerprints.',
        getSubscriber,
      ),
    )
    .addCommand(
      ofOne(
        'test',
        'sends one test event and says what came of it',
        'Sends one test event on the terms of a subscriber, says what came of it and what to do. Ends with 1 unless it was accepted.',
        testSubscriber,
      ),
    )
    .addCommand(
      ofOne(
        'enable',
        'switches deliveries on',
        'Switches deliveries on; ends a quarantine and a throttle and closes the breaker.',
        (context, id) => switchSubscriber(context, id, 'enable'),
      ),
    )
    .addCommand(
      ofOne(
        'disable',
        'holds what is owed and makes nothing new',
        'Holds what is owed to a subscriber and makes nothing new.',
        (context, id) => switchSubscriber(context, id, 'disable'),
      ),
    );
}

/** Whether it is sent anything now, and why not. */
function standingOf({ enabled, quarantine, breaker, throttledUntil }: Subscriber): string {
  if (!enabled) return 'disabled';
  if (quarantine !== null) return `quarantine since ${time(quarantine.since)}: ${quarantine.reason}`;
  if (breaker !== null) return `breaker open until ${time(breaker.openUntil)}`;
  return throttledUntil === null ? 'enabled' : `throttled until ${time(throttledUntil)}`;
}

async function listSubscribers({ output, waybill }: Context, options: PagingOptions): Promise<void> {
  const subscribers = paged(options, output, (query) =>
    answerOf(waybill.GET('/v1/subscribers', { params: { query } })),
  );
  await output.list(
    subscribers,
    [
      { title: 'SUBSCRIBER', of: ({ id }) => id },
      { title: 'VERSION', of: ({ version }) => version, right: true },
      { title: 'URL', of: ({ url }) => url },
      { title: 'AUTH', of: ({ auth }) => auth.type },
      { title: 'ORDERING', of: ({ delivery }) => delivery.ordering },
      { title: 'CHANGED', of: ({ updatedAt }) => time(updatedAt) },
      { title: 'BY', of: ({ updatedBy }) => updatedBy },
      {
        title: 'STANDING',
        of: standingOf,
        paint: (cell) => (cell === 'enabled' ? output.good(cell) : output.doubtful(cell)),
      },
    ],
    'There is no subscriber.',
  );
}

async function getSubscriber({ output, waybill }: Context, id: string): Promise<void> {
  const subscriber = await answerOf(waybill.GET('/v1/subscribers/{id}', { params: { path: { id } } }));
  const { stringify } = await import('yaml');
  output.one(subscriber, () => {
    output.line(output.dim(`# ${standingOf(subscriber)}`));
    for (const line of stringify(subscriber).trimEnd().split('\n')) output.line(visible(line));
  });
}

async function testSubscriber({ output, waybill }: Context, id: string): Promise<void> {
  const result = await answerOf(waybill.POST('/v1/subscribers/{id}/test', { params: { path: { id } } }));
  output.one(result, () => {
    output.line(paintOutcome(output, result.outcome));
    const { outcome: _, explanation, ...rest } = result;
    output.fields([
      ['explanation', explanation],
      ...Object.entries(rest).map(
        ([name, value]) =>
          [name, typeof value === 'object' && value !== null ? JSON.stringify(value) : value] as const,
      ),
    ]);
  });
  if (result.outcome !== 'accepted') throw new AnswerIsNo();
}

async function switchSubscriber(
  { output, waybill }: Context,
  id: string,
  way: 'enable' | 'disable',
): Promise<void> {
  const subscriber = await answerOf(
    waybill.POST(`/v1/subscribers/{id}/${way}`, { params: { path: { id } } }),
  );
  output.one(subscriber, () => output.line(`${id} version ${subscriber.version}: ${standingOf(subscriber)}`));
}
