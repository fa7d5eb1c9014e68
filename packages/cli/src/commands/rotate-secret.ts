import { readFileSync } from 'node:fs';
import { answerOf } from '@waybill/client';
import { Command } from 'commander';
import { readSpan } from '../arguments.ts';
import { type Context, contextOf, examples } from '../context.ts';
import { CommandError } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import { time } from '../output/words.ts';

interface RotateOptions {
  readonly overlap?: number;
  readonly secretFile?: string;
}

export function rotateSecretCommand(io: Io): Command {
  return new Command('rotate-secret')
    .summary('gives a subscriber a new signing secret')
    .description(
      'Puts a new signing secret in the place of the present one, which stays valid beside it for a while. One that is made is shown this once: keep it.',
    )
    .argument('<subscriber>', 'its id')
    .option('--overlap <span>', 'how long the one before stays valid, such as 24h (default: a day)', readSpan)
    .option('--secret-file <file>', 'holds the new secret, instead of one that is made')
    .addHelpText(
      'after',
      examples(
        'waybill rotate-secret clinic',
        'waybill rotate-secret clinic --overlap 7d --secret-file new.txt',
      ),
    )
    .action((id: string, options: RotateOptions, command: Command) =>
      rotate(contextOf(command, io), id, options),
    );
}

async function rotate({ output, waybill }: Context, id: string, { overlap, secretFile }: RotateOptions) {
  const body = {
    ...(overlap === undefined ? {} : { overlapSeconds: overlap / 1_000 }),
    ...(secretFile === undefined ? {} : { secret: secretIn(secretFile) }),
  };
  const params = { path: { id } };
  const answer = await answerOf(waybill.POST('/v1/subscribers/{id}/rotate-secret', { params, body }));
  output.one(answer, () => {
    output.fields([
      ['subscriber', `${answer.id} version ${answer.version}`],
      ['new secret', answer.secret],
      ['public key', answer.publicKey],
      ['the one before ends', time(answer.previousExpiresAt)],
    ]);
    if (answer.secret !== null) output.note('It is not shown again.');
  });
}

function secretIn(file: string): string {
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    throw new CommandError('missing', `${file} cannot be read: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
