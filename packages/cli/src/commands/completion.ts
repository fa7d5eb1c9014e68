import complete from '@bomb.sh/tab/commander';
import type { Command } from 'commander';
import { examples } from '../context.ts';

/** The command that prints a shell's completion script. To be called when every other command is there. */
export function completionCommand(program: Command): void {
  complete(program, { completionCommandName: 'completion' });
  program.commands
    .find((command) => command.name() === 'completion')
    ?.summary('what makes a shell complete commands and options')
    .description('Prints what makes a shell complete commands and options.')
    .addHelpText(
      'after',
      examples('source <(waybill completion bash)', 'waybill completion zsh > ~/.zsh/completions/_waybill'),
    );
}
