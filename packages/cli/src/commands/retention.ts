import { answerOf, type Schemas } from '@waybill/client';
import { Command } from 'commander';
import { type Context, contextOf, examples } from '../context.ts';
import { AnswerIsNo } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import type { Column } from '../output/table.ts';
import { time } from '../output/words.ts';
import { type PagingOptions, paged, withPaging } from './paging.ts';

type Policy = Schemas['RetentionPolicy'];
type Run = Schemas['RetentionRun'];

interface RunsOptions extends PagingOptions {
  readonly policy?: string;
}

export function retentionCommand(io: Io): Command {
  const withContext =
    <Args extends unknown[]>(act: (context: Context, ...args: Args) => Promise<void>) =>
    (...args: [...Args, Command]) => {
      const command = args.pop() as Command;
      return act(contextOf(command, io), ...(args as unknown as Args));
    };

  return new Command('retention')
    .summary('what leaves, when, and the proof that it did')
    .description('What leaves, when, under which policy; and the proof that it did.')
    .addCommand(
      withPaging(new Command('policies'))
        .summary('the newest version of each policy, or every version of one')
        .description('Lists the newest version of each policy, or every version of one.')
        .argument('[policy]', 'its id')
        .addHelpText('after', examples('waybill retention policies', 'waybill retention policies month'))
        .action(withContext(listPolicies)),
    )
    .addCommand(
      withPaging(new Command('runs'))
        .summary('retention runs, newest first, or one')
        .description('Lists retention runs, newest first, or shows one.')
        .argument('[run]', 'its id')
        .option('--policy <id>', 'only those of one policy')
        .addHelpText(
          'after',
          examples('waybill retention runs --policy month', 'waybill retention runs --limit 1 --json'),
        )
        .action(withContext(listRuns)),
    )
    .addCommand(
      new Command('verify')
        .summary('recomputes the chains of a run and compares its counts')
        .description(
          'Recomputes the chains of a run and compares its counts. Names what does not hold, and ends with 1 then.',
        )
        .argument('<run>', 'its id')
        .addHelpText('after', examples('waybill retention verify retention.month.v2.20260504T030000Z'))
        .action(withContext(verifyRun)),
    )
    .addCommand(
      new Command('prove')
        .summary('whether a delivery is gone, when, and under which rule')
        .description(
          'Says whether a delivery is gone, when and under which rule; or that it is here, and why. Ends with 1 where it is not here and no ledger entry that can be believed says that it was deleted.',
        )
        .argument('<delivery>', 'its id')
        .addHelpText('after', examples('waybill retention prove dlv_…'))
        .action(withContext(proveDeletion)),
    )
    .addCommand(
      new Command('hold')
        .summary('keeps a shipment: nothing of it is deleted')
        .description('Puts a legal hold on a shipment: once this has ended with 0, nothing of it is deleted.')
        .argument('<shipment>', 'its id')
        .requiredOption('--reason <text>', 'why; it stays on record')
        .addHelpText('after', examples("waybill retention hold SHP-1 --reason 'case 4711'"))
        .action(withContext(holdShipment)),
    )
    .addCommand(
      new Command('release')
        .summary('ends the hold of a shipment')
        .description('Ends the legal hold of a shipment; that it was held stays on record.')
        .argument('<shipment>', 'its id')
        .addHelpText('after', examples('waybill retention release SHP-1'))
        .action(withContext(releaseShipment)),
    )
    .addCommand(
      withPaging(new Command('holds'))
        .summary('legal holds that stand')
        .description('Lists legal holds that stand, by shipment.')
        .addHelpText('after', examples('waybill retention holds'))
        .action(withContext(listHolds)),
    );
}

const POLICY_COLUMNS: Column<Policy>[] = [
  { title: 'POLICY', of: ({ id }) => id },
  { title: 'VERSION', of: ({ version }) => version, right: true },
  { title: 'MODE', of: ({ mode }) => mode },
  { title: 'KIND', of: ({ kind }) => kind },
  { title: 'STATES', of: ({ states }) => states.join(',') },
  { title: 'AGE', of: ({ maxAge }) => maxAge },
  { title: 'OBSERVED', of: ({ observed }) => observed?.candidates, right: true },
  { title: 'PUT AT', of: ({ createdAt }) => time(createdAt) },
  { title: 'BY', of: ({ createdBy }) => createdBy },
];

async function listPolicies(
  { output, waybill }: Context,
  id: string | undefined,
  options: PagingOptions,
): Promise<void> {
  const policies = paged(options, output, (query) =>
    id === undefined
      ? answerOf(waybill.GET('/v1/retention/policies', { params: { query } }))
      : // All at once: the call knows no pages.
        answerOf(waybill.GET('/v1/retention/policies/{id}/versions', { params: { path: { id } } })),
  );
  await output.list(policies, POLICY_COLUMNS, 'There is no policy: nothing is deleted.');
}

const RUN_COLUMNS: Column<Run>[] = [
  { title: 'RUN', of: ({ runId }) => runId },
  { title: 'MODE', of: ({ mode }) => mode },
  { title: 'CUTOFF', of: ({ cutoff }) => time(cutoff) },
  { title: 'CANDIDATES', of: ({ candidates }) => candidates, right: true },
  { title: 'DELETED', of: ({ deleted }) => deleted, right: true },
  { title: 'PAGES', of: ({ pages }) => pages, right: true },
  { title: 'PASSED OVER', of: ({ conflicts }) => conflicts, right: true },
  { title: 'FINISHED', of: ({ finishedAt }) => time(finishedAt) },
  { title: 'STOPPED BECAUSE', of: ({ stoppedBecause }) => stoppedBecause },
];

async function listRuns(
  { output, waybill }: Context,
  runId: string | undefined,
  options: RunsOptions,
): Promise<void> {
  if (runId !== undefined) {
    const params = { path: { runId } };
    const run = await answerOf(waybill.GET('/v1/retention/runs/{runId}', { params }));
    output.one(run, () =>
      output.fields([
        ['run', run.runId],
        ['policy', `${run.policyId} version ${run.policyVersion}`],
        ['mode', run.mode],
        ['cutoff', time(run.cutoff)],
        ['candidates', run.candidates],
        ['deleted', run.deleted],
        ['passed over', run.conflicts],
        ['pages', run.pages],
        ['shards', run.shards],
        ['ms per row', run.msPerRow],
        ['started', time(run.startedAt)],
        ['finished', time(run.finishedAt) ?? 'not yet'],
        ['stopped because', run.stoppedBecause],
      ]),
    );
    return;
  }
  const { policy } = options;
  const runs = paged(options, output, (page) =>
    answerOf(
      waybill.GET('/v1/retention/runs', {
        params: { query: { ...page, ...(policy === undefined ? {} : { policyId: policy }) } },
      }),
    ),
  );
  await output.list(runs, RUN_COLUMNS, 'There was no run.');
}

async function verifyRun({ output, waybill }: Context, runId: string): Promise<void> {
  const params = { path: { runId } };
  const found = await answerOf(waybill.GET('/v1/retention/runs/{runId}/verification', { params }));
  output.one(found, () => {
    const counts = `${found.deleted} deleted, ${found.entries} entries in the ledger`;
    const unfinished = found.finished ? '' : '; the run has not ended, more may come';
    output.line(
      found.verified
        ? `${output.good('verified')}: ${counts}${unfinished}`
        : `${output.bad('not verified')}: ${counts}${unfinished}`,
    );
    if (found.faults.length > 0)
      output.table(found.faults, [
        { title: 'SHARD', of: ({ shard }) => shard, right: true },
        { title: 'ENTRY', of: ({ seq }) => seq, right: true },
        { title: 'FAULT', of: ({ fault }) => fault },
        { title: 'WHAT', of: ({ message }) => message },
      ]);
  });
  if (!found.verified) throw new AnswerIsNo();
}

async function proveDeletion({ output, waybill }: Context, deliveryId: string): Promise<void> {
  const params = { path: { deliveryId } };
  const proof = await answerOf(waybill.GET('/v1/retention/proofs/{deliveryId}', { params }));
  output.one(proof, () => {
    if (proof.state === 'present') {
      const { state, closedAt } = proof.delivery;
      const closed = closedAt === null ? '' : `, closed ${time(closedAt)}`;
      output.line(`${output.doubtful('present')}: ${state}${closed}`);
      for (const reason of proof.because) output.line(`  ${reason}`);
    } else {
      output.line(
        proof.state === 'gone'
          ? output.good('gone')
          : `${output.bad('unproven')}: it is not here, and no entry for it stands in its chain`,
      );
    }
    for (const fault of proof.faults) output.line(`  ${fault}`);
    if (proof.entries.length > 0)
      output.table(proof.entries, [
        { title: 'DELETED', of: ({ deletedAt }) => time(deletedAt) },
        { title: 'REASON', of: ({ reason }) => reason },
        { title: 'POLICY', of: ({ policyId, policyVersion }) => `${policyId} version ${policyVersion}` },
        { title: 'CUTOFF', of: ({ cutoff }) => time(cutoff) },
        { title: 'CLOSED', of: ({ terminalAt }) => time(terminalAt) },
        { title: 'RUN', of: ({ runId }) => runId },
      ]);
  });
  if (proof.state === 'unproven') throw new AnswerIsNo();
}

async function holdShipment(
  { output, waybill }: Context,
  shipmentId: string,
  { reason }: { reason: string },
): Promise<void> {
  const params = { path: { shipmentId } };
  const hold = await answerOf(waybill.PUT('/v1/retention/holds/{shipmentId}', { params, body: { reason } }));
  output.one(hold, () =>
    output.line(`${shipmentId} is held since ${time(hold.setAt)} by ${hold.setBy}: ${hold.reason}`),
  );
}

async function releaseShipment({ output, waybill }: Context, shipmentId: string): Promise<void> {
  await waybill.DELETE('/v1/retention/holds/{shipmentId}', { params: { path: { shipmentId } } });
  output.one({ shipmentId, released: true }, () => output.line(`${shipmentId} is held no longer`));
}

async function listHolds({ output, waybill }: Context, options: PagingOptions): Promise<void> {
  const holds = paged(options, output, (query) =>
    answerOf(waybill.GET('/v1/retention/holds', { params: { query } })),
  );
  await output.list(
    holds,
    [
      { title: 'SHIPMENT', of: ({ shipmentId }) => shipmentId },
      { title: 'SINCE', of: ({ setAt }) => time(setAt) },
      { title: 'BY', of: ({ setBy }) => setBy },
      { title: 'REASON', of: ({ reason }) => reason },
    ],
    'Nothing is held.',
  );
}
