import { Command, Option } from 'commander';
import { readCount, readSpan } from '../arguments.ts';
import { contextOf, examples } from '../context.ts';
import type { Io } from '../io.ts';
import type { PublishOptions } from '../publish/publish-file.ts';

const MOST_PER_REQUEST = 500;

export function publishCommand(io: Io): Command {
  return new Command('publish')
    .summary('posts the status events of a file; goes on where it was broken off')
    .description(
      'Posts status events from a file of JSON lines (NDJSON), one event a line, in their order. After each answer it notes in FILE.waybill-progress how far it is; the same command goes on from there, whatever ended the one before. No event is taken twice: one that was posted already is a duplicate. What is refused is told with its line and its faults.',
    )
    .requiredOption('-f, --file <file>', 'the events; - reads standard input')
    .option(
      '--batch <n>',
      'events per request, which waits until so many are there: 1 for what comes slowly',
      readCount(1, MOST_PER_REQUEST),
      MOST_PER_REQUEST,
    )
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
        'tail -F events.ndjson | waybill publish -f - --batch 1',
      ),
    )
    .action(async (options: PublishOptions, command: Command) => {
      const context = contextOf(command, io);
      const { publishFile } = await import('../publish/publish-file.ts');
      await publishFile(context, options);
    });
}
