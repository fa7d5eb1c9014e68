import { createReadStream, type Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { connect } from '../connection.ts';
import type { Context } from '../context.ts';
import { AnswerIsNo, CommandError } from '../exit-codes.ts';
import { visible } from '../output/table.ts';
import { OtherInputError } from './lines.ts';
import { countsInWords, Meter } from './meter.ts';
import { type Counts, NOTHING_YET, type Progress, ProgressFile } from './progress-file.ts';
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
  if (from !== null && from.mark.lines > 0)
    output.note(`Goes on behind line ${from.mark.lines} of an earlier run (${countsInWords(from.counts)}).`);
  const meter = new Meter(io, size, from);
  const show = (results: readonly LineResult[]) => {
    for (const result of results)
      if (output.json) output.document(result);
      else if (result.result === 'conflict' || result.result === 'invalid') meter.say(faultInWords(result));
  };
  // A place that cannot be written is told before anything is posted.
  await progressFile?.write(from ?? NOTHING_YET);
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
  }).catch((error: unknown) => {
    if (progressFile !== null && !(error instanceof OtherInputError))
      meter.say('Broken off: the same command goes on from there.');
    throw inWords(error, file, statePath);
  });
  await progressFile?.remove();
  conclude(counts, meter);
}

function inWords(error: unknown, file: string, statePath: string | null): unknown {
  if (error instanceof OtherInputError)
    return new CommandError(
      'data',
      `${statePath} does not belong to ${file}: ${error.message}. --restart begins anew; what was taken is a duplicate then.`,
      { cause: error },
    );
  const ofReading =
    error instanceof Error && 'syscall' in error && ['open', 'read'].includes(String(error.syscall));
  return ofReading ? cannotBeRead(file, error) : error;
}

const cannotBeRead = (file: string, error: Error) =>
  new CommandError('missing', `${file} cannot be read: ${error.message}`, { cause: error });

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
    throw cannotBeRead(file, error as Error);
  }
  if (found.isDirectory()) throw new CommandError('data', `${file} is a directory, not a file of events`);
  return found.isFile() ? found.size : null;
}
