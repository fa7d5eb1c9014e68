import { answerOf, type Schemas } from '@waybill/client';
import { Command } from 'commander';
import { type Context, contextOf, examples } from '../context.ts';
import type { Io } from '../io.ts';
import type { Column } from '../output/table.ts';
import { paintOutcome, paintState, time, why } from '../output/words.ts';

type Version = Schemas['Shipment']['versions'][number];

/** What became of one version for one subscriber, or why nothing did. */
interface Cell {
  readonly version: Version;
  readonly subscriberId: string | null;
  readonly state: string | null;
  readonly attempts: number | null;
  readonly outcome: string | null;
  readonly why: string | null;
  readonly id: string | null;
}

interface ShipmentOptions {
  readonly subscriber?: string;
}

export function shipmentCommand(io: Io): Command {
  return new Command('shipment')
    .summary('every version of a shipment, and what became of it for whom')
    .description(
      'Shows event versions × subscribers of one shipment, oldest first: what became of each, and why somebody got nothing.',
    )
    .argument('<shipment>', 'its id')
    .option('--subscriber <id>', 'only what became of it for this one')
    .addHelpText(
      'after',
      examples('waybill shipment SHP-1', 'waybill shipment SHP-1 --subscriber clinic --json'),
    )
    .action((id: string, options: ShipmentOptions, command: Command) =>
      showShipment(contextOf(command, io), id, options),
    );
}

async function showShipment({ output, waybill }: Context, id: string, { subscriber }: ShipmentOptions) {
  const versions: Version[] = [];
  let shipment: Schemas['Shipment'] | null = null;
  for (let cursor: string | null = null; shipment === null || cursor !== null; ) {
    const query = {
      ...(subscriber === undefined ? {} : { subscriberId: subscriber }),
      ...(cursor === null ? {} : { cursor }),
    };
    const page: Schemas['Shipment'] = await answerOf(
      waybill.GET('/v1/shipments/{shipmentId}', { params: { path: { shipmentId: id }, query } }),
    );
    versions.push(...page.versions);
    shipment = page;
    cursor = page.nextCursor;
  }
  output.one({ ...shipment, versions, nextCursor: null }, () => {
    const columns: Column<Cell>[] = [
      { title: 'VERSION', of: ({ version }) => version.eventVersion, right: true },
      { title: 'STATUS', of: ({ version }) => version.status },
      { title: 'OCCURRED AT', of: ({ version }) => time(version.occurredAt) },
      { title: 'SUBSCRIBER', of: ({ subscriberId }) => subscriberId },
      { title: 'STATE', of: ({ state }) => state, paint: (cell) => paintState(output, cell) },
      { title: 'ATTEMPTS', of: ({ attempts }) => attempts, right: true },
      { title: 'OUTCOME', of: ({ outcome }) => outcome, paint: (cell) => paintOutcome(output, cell) },
      { title: 'DELIVERY', of: (cell) => cell.id },
      { title: 'WHY', of: (cell) => cell.why },
    ];
    output.table(versions.flatMap(cellsOf), columns);
    for (const version of versions) noteHidden(output, version);
  });
}

function cellsOf(version: Version): Cell[] {
  const told = version.deliveries.map((delivery) => ({ ...delivery, version, why: why(delivery) }));
  const none = { attempts: null, outcome: null, id: null };
  const notSent = version.notSent.map(({ subscriberId, reason }) => ({
    ...none,
    version,
    subscriberId,
    state: 'not sent',
    why: reason,
  }));
  const all = [...told, ...notSent];
  if (all.length > 0) return all;
  const because =
    version.refused !== null
      ? `${version.refused.reason}: ${version.refused.detail}`
      : version.fannedOutAt === null
        ? 'it is not decided yet who gets it'
        : 'no subscriber wants it';
  return [{ ...none, version, subscriberId: null, state: null, why: because }];
}

/** The answer holds the first 500 of each kind. */
function noteHidden(output: Context['output'], version: Version): void {
  const sum = (counts: Readonly<Record<string, number | undefined>>) =>
    Object.values(counts).reduce<number>((total, count) => total + (count ?? 0), 0);
  const hidden =
    sum(version.deliveryCounts) +
    sum(version.notSentCounts) -
    version.deliveries.length -
    version.notSent.length;
  if (hidden <= 0) return;
  const counts = JSON.stringify({ ...version.deliveryCounts, ...version.notSentCounts });
  output.note(`version ${version.eventVersion} has ${hidden} more: ${counts}; see one with --subscriber`);
}
