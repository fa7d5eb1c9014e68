import { createReadStream, type Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Command, Option } from 'commander';
import { readCount, readSpan } from '../arguments.ts';
import { connect } from '../connection.ts';
import { type Context, contextOf, examples } from '../context.ts';
import { AnswerIsNo, CommandError } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import { visible } from '../output/table.ts';
import { OtherInputError } from '../publish/lines.ts';
import { countsInWords, Meter } from '../publish/meter.ts';
import { type Counts, type Progress, ProgressFile } from '../publish/progress-file.ts';
import { type LineResult, publish } from '../publish/publish.ts';

interface PublishOptions {
  readonly file: string;
  readonly batch: number;
  readonly cloudevents?: true;
  readonly state?: string;
  readonly restart?: true;
  readonly giveUpAfter: number;
}

const STDIN = '-';
const MOST_PER_REQUEST = 500;

export function publishCommand(io: Io): Command {
  return new Command('publish')
    .summary('posts the status events of a file; goes on where it was broken off')
    .description(
      'Posts status events from a file of JSON lines (NDJSON), one event a line, in their order. After each answer it notes in FILE.waybill-progress how far it is; the same command goes on from there, whatever ended the one before. No event is taken twice: one that was posted already is a duplicate. What is refused is told with its line and its faults.',
    )
    .requiredOption('-f, --file <file>', 'the events; - reads standard input')
    .option('--batch <n>', 'events per request', readCount(1, MOST_PER_REQUEST), MOST_PER_REQUEST)
    .option('--cloudevents', 'lines are CloudEvents 1.0 in structured form')
    .option('--state <file>', 'where it notes how far it is; needed to go on with standard input')
    .option('--restart', 'from the beginning, whatever an earlier run noted')
    .addOption(
      new Option('--give-up-after <span>', 'how long a request is tried that is answered 429 or 503, or not')
        .argParser(readSpan)
        .default(15 * 60_000, '15m'),
    )
    .addHelpText(
      'after',
      examples(
        'waybill publish -f events.ndjson',
        'waybill publish -f events.ndjson --json > results.ndjson',
        'zcat events.ndjson.gz | waybill publish -f - --state events.progress',
      ),
    )
    .action((options: PublishOptions, command: Command) => publishFile(contextOf(command, io), options));
}

async function publishFile({ io, output, connection }: Context, options: PublishOptions): Promise<void> {
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
