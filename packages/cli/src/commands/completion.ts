import complete from '@bomb.sh/tab/commander';
import { type Command, CommanderError } from 'commander';
import { examples } from '../context.ts';
import type { Io } from '../io.ts';

/** What a shell reads as "nothing of mine: names of files". */
const FILES = ':0\n';

/** The script counts on the package bash-completion, which a server may not have. */
const WORDS_IN_BASH = `if ! declare -F _get_comp_words_by_ref >/dev/null; then
    _get_comp_words_by_ref() {
        words=("\${COMP_WORDS[@]}") cword=$COMP_CWORD
        cur=\${words[cword]} prev=\${words[cword - 1]}
    }
fi
`;
/** As the script does it, and with the names of files where there is nothing else. */
const REGISTERED_IN_BASH = 'complete -o default -F __waybill_complete waybill\n';

/** The command that prints a shell's completion script. To be called when every other command is there. */
export function completionCommand(program: Command, io: Io): void {
  complete(program, { completionCommandName: 'completion' });
  const named = (name: string) => program.commands.find((command) => command.name() === name);
  named('completion')
    ?.summary('what makes a shell complete commands and options')
    .description('Prints what makes a shell complete commands, options and the names of files.')
    .addHelpText(
      'after',
      examples('source <(waybill completion bash)', 'waybill completion zsh > ~/.zsh/completions/_waybill'),
    )
    .hook('preAction', (_, { args: [shell] }) => {
      if (shell === 'bash') io.out(WORDS_IN_BASH);
    })
    .hook('postAction', (_, { args: [shell] }) => {
      if (shell === 'bash') io.out(REGISTERED_IN_BASH);
    });
  named('complete')?.hook('preAction', (_, { args }) => {
    if (!isFile(program, args)) return;
    io.out(FILES);
    throw new CommanderError(0, 'waybill.completed', '');
  });
}

/** Whether the last of these words is the value of an option that takes a file. */
function isFile(program: Command, words: readonly string[]): boolean {
  const option = words.at(-2);
  if (option === undefined || !option.startsWith('-')) return false;
  const path = [program];
  for (const word of words) {
    const next = path.at(-1)?.commands.find((command) => command.name() === word);
    if (next !== undefined) path.push(next);
  }
  return path
    .flatMap(({ options }) => options)
    .some(({ flags, short, long }) => /<(file|path)>/.test(flags) && [short, long].includes(option));
}
