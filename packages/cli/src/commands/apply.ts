import { Command } from 'commander';
import type { ApplyOptions } from '../apply/apply.ts';
import { contextOf, examples } from '../context.ts';
import type { Io } from '../io.ts';

export function applyCommand(io: Io): Command {
  return new Command('apply')
    .summary('makes subscribers as files describe them')
    .description(
      'Makes subscribers as the YAML and JSON files of a directory describe them, a document each: `id`, and the fields of PUT /v1/subscribers/{id}. Shows every difference first. Files are checked whole before anything is changed. `enabled` stays as it is unless a file names it. In `auth`, {fromEnv: NAME} and {fromFile: PATH} stand for secrets.',
    )
    .requiredOption('-f, --file <path>', 'a directory, or one file')
    .option('--dry-run', 'show the differences and change nothing')
    .option('--exit-code', 'with --dry-run: end with 1 where there is a difference')
    .option('--prune', 'remove subscribers that no file describes; what they are owed is cancelled')
    .option('--put-secrets', 'put subscribers with a secret in any case: stored secrets cannot be compared')
    .addHelpText(
      'after',
      examples(
        'waybill subscribers apply -f subscribers/ --dry-run',
        'waybill subscribers apply -f subscribers/',
        'CLINIC_TOKEN=… waybill subscribers apply -f clinic.yaml --put-secrets',
      ),
    )
    .action(async (options: ApplyOptions, command: Command) => {
      const context = contextOf(command, io);
      // Schemas take their time to load, and no other command needs them.
      const { apply } = await import('../apply/apply.ts');
      await apply(context, options);
    });
}
