import { answerOf, type Schemas } from '@waybill/client';
import { Command } from 'commander';
import { type Context, contextOf, examples } from '../context.ts';
import type { Io } from '../io.ts';
import type { Output } from '../output/output.ts';
import type { Column } from '../output/table.ts';
import { paintOutcome, paintState, time, why } from '../output/words.ts';
import { type FilterOptions, filterOf, withFilter } from './delivery-filter.ts';
import { type PagingOptions, paged, withPaging } from './paging.ts';

type Delivery = Schemas['Delivery'];

export function deliveriesCommand(io: Io): Command {
  const command = new Command('deliveries')
    .summary('deliveries by shipment, subscriber, state, outcome and time')
    .description('Lists deliveries, newest first.')
    .addHelpText(
      'after',
      examples(
        'waybill deliveries --state dead --from 24h',
        'waybill deliveries --subscriber clinic --outcome unknown --limit 500',
        "waybill deliveries --shipment SHP-1 --all --json | jq -r '.idempotencyKey'",
      ),
    );
  return withPaging(withFilter(command)).action((options: FilterOptions & PagingOptions, command: Command) =>
    listDeliveries(contextOf(command, io), options),
  );
}

async function listDeliveries({ output, waybill }: Context, options: FilterOptions & PagingOptions) {
  const filter = filterOf(options);
  const deliveries = paged(options, output, (page) =>
    answerOf(waybill.GET('/v1/deliveries', { params: { query: { ...filter, ...page } } })),
  );
  await output.list(deliveries, columnsOf(output), 'No delivery is like that.');
}

function columnsOf(output: Output): Column<Delivery>[] {
  return [
    { title: 'CREATED', of: ({ createdAt }) => time(createdAt) },
    { title: 'SHIPMENT', of: ({ shipmentId }) => shipmentId },
    { title: 'VERSION', of: ({ eventVersion }) => eventVersion, right: true },
    { title: 'STATUS', of: ({ status }) => status },
    { title: 'SUBSCRIBER', of: ({ subscriberId }) => subscriberId },
    { title: 'STATE', of: ({ state }) => state, paint: (cell) => paintState(output, cell) },
    { title: 'ATTEMPTS', of: ({ attemptCount }) => attemptCount, right: true },
    {
      title: 'OUTCOME',
      of: ({ attempts }) => attempts.at(-1)?.outcome,
      paint: (cell) => paintOutcome(output, cell),
    },
    { title: 'DELIVERY', of: ({ id }) => id },
    { title: 'WHY', of: (delivery) => why(delivery) },
  ];
}
