import { createReadStream, type Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { connect } from '../connection.ts';
import type { Context } from '../context.ts';
import { AnswerIsNo, CommandError } from '../exit-codes.ts';
import { visible } from '../output/table.ts';
import { OtherInputError } from './lines.ts';
import { countsInWords, Meter } from './meter.ts';
import { type Counts, type Progress, ProgressFile } from './progress-file.ts';
import { type LineResult, publish } from './publish.ts';

export interface PublishOptions {
  readonly file: string;
  readonly batch: number;
  readonly cloudevents?: true;
  readonly state?: string;
  readonly restart?: true;
  readonly giveUpAfter: number;
}

const STDIN = '-';

/** Publishes a file from where an earlier run broke off, showing how far it is and what is refused. */
export async function publishFile(
  { io, output, connection }: Context,
  options: PublishOptions,
): Promise<void> {
  const { file, batch, restart, giveUpAfter } = options;
  // Null of standard input and of pipes: what has no size cannot be read again by itself.
  const size = file === STDIN ? null : await sizeOf(file);
  const statePath = options.state ?? (size === null ? null : `${file}.waybill-progress`);
  const progressFile = statePath === null ? null : new ProgressFile(statePath, connection.url);
  const from = restart || progressFile === null ? null : await progressFile.read();
  if (from !== null && !restart)
    output.note(`Goes on behind line ${from.mark.lines} of an earlier run (${countsInWords(from.counts)}).`);
  const meter = new Meter(io, size, from);
  const show = (results: readonly LineResult[]) => {
    for (const result of results)
      if (output.json) output.document(result);
      else if (result.result === 'conflict' || result.result === 'invalid') meter.say(faultInWords(result));
  };
  try {
    const counts = await publish(file === STDIN ? io.stdin : createReadStream(file), from, {
      // What is under way is waited for when the process is to end: then its answer is noted.
      waybill: connect(connection),
      format: options.cloudevents ? 'cloudevents' : 'events',
      giveUpAfterMs: giveUpAfter,
      stopping: io.stopping,
      batch,
      progress: progressFile,
      onResults: show,
      onProgress: (progress: Progress) => meter.show(progress),
      onWait: (error, pauseMs) =>
        meter.say(`${error.message.split('\n')[0]}; tries again in ${Math.ceil(pauseMs / 1_000)} s`),
    });
    await progressFile?.remove();
    conclude(counts, meter);
  } catch (error) {
    if (error instanceof OtherInputError)
      throw new CommandError(
        'data',
        `${statePath} does not belong to ${file}: ${error.message}. --restart begins anew; what was taken is a duplicate then.`,
        { cause: error },
      );
    if (progressFile !== null) meter.say('Broken off: the same command goes on from there.');
    throw error;
  }
}

function conclude(counts: Counts, meter: Meter): void {
  meter.say(`Done: ${countsInWords(counts)}.`);
  if (counts.conflict + counts.invalid > 0) throw new AnswerIsNo();
}

function faultInWords({ line, shipmentId, eventVersion, result, problem }: LineResult): string {
  const name = shipmentId === null ? '' : ` (${shipmentId} version ${eventVersion ?? '?'})`;
  const faults = problem?.faults?.map(({ path, message }) => `${path} ${message}`).join('; ');
  return visible(`line ${line}${name}: ${result}: ${faults || problem?.detail || problem?.title || ''}`);
}

async function sizeOf(file: string): Promise<number | null> {
  let found: Stats;
  try {
    found = await stat(file);
  } catch (error) {
    throw new CommandError('missing', `${file} cannot be read: ${(error as Error).message}`, {
      cause: error,
    });
  }
  if (found.isDirectory()) throw new CommandError('data', `${file} is a directory, not a file of events`);
  return found.isFile() ? found.size : null;
}
