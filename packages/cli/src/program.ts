import { Command, Option } from 'commander';
import { atLeast } from './arguments.ts';
import { completionCommand } from './commands/completion.ts';
import { deadLettersCommand } from './commands/dead-letters.ts';
import { deliveriesCommand } from './commands/deliveries.ts';
import { deliveryCommand } from './commands/delivery.ts';
import { doctorCommand } from './commands/doctor.ts';
import { publishCommand } from './commands/publish.ts';
import { replayCommand } from './commands/replay.ts';
import { retentionCommand } from './commands/retention.ts';
import { rotateSecretCommand } from './commands/rotate-secret.ts';
import { shipmentCommand } from './commands/shipment.ts';
import { subscribersCommand } from './commands/subscribers.ts';
import { tailCommand } from './commands/tail.ts';
import { ticksCommand } from './commands/ticks.ts';
import { ANSWER_WITHIN_MS } from './connection.ts';
import type { Io } from './io.ts';

const HELP_WIDTH = 100;

/** The whole command line. Nothing is read or called before a command runs. */
export function createProgram(io: Io): Command {
  const program = new Command('waybill')
    .description('Publishes status events to Waybill, finds out what became of them, and runs it.')
    .option('--url <address>', 'a scheduler of Waybill (default: $WAYBILL_URL)')
    .option('--api-key-file <file>', 'holds the secret of an API key (default: $WAYBILL_API_KEY itself)')
    .addOption(
      new Option('--timeout <span>', 'how long an answer is waited for')
        .argParser(atLeast(1_000, '1s'))
        .default(ANSWER_WITHIN_MS, '2m'),
    )
    .option('--json', 'for programs: one JSON document, of lists one line per item')
    .configureHelp({ showGlobalOptions: true, helpWidth: HELP_WIDTH })
    .configureOutput({
      writeOut: io.out,
      writeErr: io.err,
      getOutHelpWidth: () => HELP_WIDTH,
      getErrHelpWidth: () => HELP_WIDTH,
    })
    .helpCommand('help [command]', 'show the help of a command')
    .showHelpAfterError('(--help shows what there is)')
    .exitOverride();
  const commands = [
    publishCommand,
    shipmentCommand,
    deliveryCommand,
    deliveriesCommand,
    tailCommand,
    replayCommand,
    deadLettersCommand,
    subscribersCommand,
    rotateSecretCommand,
    retentionCommand,
    ticksCommand,
    doctorCommand,
  ];
  for (const make of commands) program.addCommand(inherit(program, make(io)));
  completionCommand(program, io);
  return program;
}

/** Settings go to commands that are made by `command()`, not to those that are added. */
function inherit(parent: Command, child: Command): Command {
  child.copyInheritedSettings(parent);
  for (const grandchild of child.commands) inherit(child, grandchild);
  return child;
}
