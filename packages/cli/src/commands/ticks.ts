import { answerOf } from '@waybill/client';
import { JOBS, type Job } from '@waybill/shared/domain/run';
import { Argument, Command } from 'commander';
import { readInstant } from '../arguments.ts';
import { type Context, contextOf, examples } from '../context.ts';
import type { Io } from '../io.ts';
import { time } from '../output/words.ts';

interface FireOptions {
  readonly slot?: string;
}

export function ticksCommand(io: Io): Command {
  const fire = new Command('fire')
    .summary('fires a slot of a job')
    .description(
      'Fires a slot, as the built-in cron does: the same slot, fired however often and by whom, is the same run.',
    )
    .addArgument(new Argument('<job>', 'which').choices(JOBS))
    .option('--slot <time>', 'nominal time of the firing (default: now)', readInstant)
    .addHelpText(
      'after',
      examples('waybill ticks fire dispatch', 'waybill ticks fire retention --slot 2026-05-04T03:00:00Z'),
    )
    .action((job: Job, options: FireOptions, command: Command) =>
      fireTick(contextOf(command, io), job, options),
    );
  return new Command('ticks')
    .summary('fires what a cron fires')
    .description('Ticks: the runs that a cron makes.')
    .addCommand(fire);
}

async function fireTick({ output, waybill }: Context, job: Job, { slot }: FireOptions) {
  const query = slot === undefined ? {} : { slot };
  const run = await answerOf(waybill.POST('/v1/ticks/{job}', { params: { path: { job }, query } }));
  output.one(run, () =>
    output.fields([
      ['run', run.runId],
      ['slot', time(run.slot)],
      ['started', time(run.startedAt)],
      ['finished', time(run.finishedAt) ?? 'not yet'],
      ['selected', run.selected],
      ['published again', run.republished],
      ['limit', run.limit],
      ['stopped because', run.stoppedBecause],
      ['runs', run.runIds?.join(', ')],
    ]),
  );
}
