import { answerOf, itemsOf, type Schemas } from '@waybill/client';
import { outcomeInWords } from '@waybill/shared/domain/words';
import { Command } from 'commander';
import { type Context, contextOf, examples } from '../context.ts';
import type { Io } from '../io.ts';
import { paintState, time, why } from '../output/words.ts';

type Delivery = Schemas['Delivery'];

interface DeliveryOptions {
  readonly history?: true;
}

export function deliveryCommand(io: Io): Command {
  return new Command('delivery')
    .summary('the whole record of one delivery')
    .description(
      'Shows the record of one delivery: its attempts with worker, lease, when the request left and what came back, and every transition with its cause.',
    )
    .argument('<id>', 'its id, which is its idempotency key')
    .option('--history', 'attempts and transitions too that the record no longer holds')
    .addHelpText('after', examples('waybill delivery dlv_…', 'waybill delivery dlv_… --history --json'))
    .action((id: string, options: DeliveryOptions, command: Command) =>
      showDelivery(contextOf(command, io), id, options),
    );
}

async function showDelivery({ output, waybill }: Context, id: string, { history }: DeliveryOptions) {
  const path = { id };
  const delivery = await answerOf(waybill.GET('/v1/deliveries/{id}', { params: { path } }));
  const attempts: Delivery['attempts'] = [];
  const transitions: Delivery['transitions'] = [];
  if (history) {
    const pages = itemsOf((cursor) =>
      answerOf(waybill.GET('/v1/deliveries/{id}/history', { params: { path, query: cursor } })),
    );
    for await (const part of pages) {
      attempts.push(...part.attempts);
      transitions.push(...part.transitions);
    }
  }
  const whole: Delivery = {
    ...delivery,
    attempts: [...attempts, ...delivery.attempts],
    transitions: [...transitions, ...delivery.transitions],
  };
  output.one(whole, () => showRecord(output, whole));
}

function showRecord(output: Context['output'], delivery: Delivery): void {
  output.fields([
    ['delivery', delivery.id],
    ['shipment', `${delivery.shipmentId} version ${delivery.eventVersion} (${delivery.status})`],
    ['subscriber', delivery.subscriberId],
    ['selected by', delivery.runId],
    ['sequence', delivery.sequence],
    ['previous version', delivery.previousVersion],
    ['created', time(delivery.createdAt)],
    ['due', time(delivery.dueAt)],
    ['closed', time(delivery.closedAt)],
    ['trace', delivery.traceUrl ?? delivery.traceId],
  ]);
  const because = why(delivery);
  output.line();
  output.line(paintState(output, delivery.state) + (because === null ? '' : `: ${because}`));
  if (delivery.attempts.length > 0) {
    const missing = delivery.attemptCount - delivery.attempts.length;
    const part = missing > 0 ? ` (the last ${delivery.attempts.length}; --history shows all)` : '';
    output.line();
    output.line(output.bold(`Attempts: ${delivery.attemptCount}${part}`));
    output.table(delivery.attempts, [
      { title: '#', of: ({ number }) => number, right: true },
      { title: 'CLAIMED', of: ({ claimedAt }) => time(claimedAt) },
      { title: 'LEFT', of: ({ leftAt }) => time(leftAt) },
      { title: 'ENDED', of: ({ endedAt }) => time(endedAt) },
      { title: 'WORKER', of: ({ worker }) => worker },
      { title: 'LEASE', of: ({ leaseId }) => leaseId },
      { title: 'OUTCOME', of: (attempt) => outcomeInWords(attempt) },
      { title: 'DETAIL', of: ({ detail, late }) => (late ? `late: ${late.outcome}` : detail) },
    ]);
  }
  output.line();
  output.line(output.bold('Transitions'));
  output.table(delivery.transitions, [
    { title: 'AT', of: ({ at }) => time(at) },
    { title: 'FROM', of: ({ from }) => from },
    { title: 'TO', of: ({ to }) => to, paint: (cell) => paintState(output, cell) },
    { title: 'CAUSE', of: ({ cause }) => cause },
    { title: 'REASON', of: ({ reason }) => reason },
  ]);
}
