import { Readable } from 'node:stream';
import type { Command } from 'commander';
import { EXIT_CODES } from '../../packages/cli/src/exit-codes.ts';
import type { Io } from '../../packages/cli/src/io.ts';
import { createProgram } from '../../packages/cli/src/program.ts';
import { page, table } from './markdown.ts';

/** The command line, as its own help tells of it. */
export function cliPage(): string {
  let help = '';
  const io: Io = {
    env: {},
    stdin: Readable.from([]),
    out: (text) => {
      help += text;
    },
    err: () => {},
    watched: false,
    colours: false,
    stopping: new AbortController().signal,
  };
  const program = createProgram(io);
  const helpOf = (command: Command): string => {
    help = '';
    command.outputHelp();
    // They stand above, once.
    return help.replace(/\nGlobal Options:\n(?: .*\n)+/, '').trim();
  };
  const codes = Object.values(EXIT_CODES).map(({ status, meaning }) => [String(status), meaning]);
  return page(
    'The command line',
    INTRODUCTION,
    '## How it ends',
    table(
      ['exit code', 'meaning'],
      [
        ...codes,
        [
          '130, 143, 141',
          'It was interrupted, or nobody read its output any more: 128 and the signal’s number',
        ],
      ],
    ),
    SUBSCRIBERS,
    '## waybill',
    block(helpOf(program)),
    ...leavesOf(program).flatMap((command) => [`## ${nameOf(command)}`, block(helpOf(command))]),
  );
}

/** Commands that do something by themselves, each before those below it. */
function leavesOf(command: Command): Command[] {
  return command.commands
    .filter((each) => !['help', 'complete'].includes(each.name()))
    .flatMap((each) => (doesNothing(each) ? leavesOf(each) : [each, ...leavesOf(each)]));
}

/** One that only holds others takes no options of its own. */
function doesNothing({ commands, options }: Command): boolean {
  return commands.length > 0 && options.length === 0;
}

function nameOf(command: Command): string {
  return command.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name();
}

const block = (text: string): string => `\`\`\`text\n${text}\n\`\`\``;

const INTRODUCTION = `\`pnpm waybill …\` from the repository, or \`node_modules/.bin/waybill …\` from anywhere. It talks to the HTTP API and
needs to know where that is, and a key:

\`\`\`sh
export WAYBILL_URL=http://127.0.0.1:8080   # a scheduler; --url
export WAYBILL_API_KEY=…                    # the secret of a key; --api-key-file names a file that holds it
waybill doctor                              # what is wrong, and what to do
\`\`\`

Both are in the line that \`pnpm stack\` prints: \`scheduler\`, and one of \`apiKeys\`. With \`docker compose\` the address is
the one above, and the secret is the third part of an entry of \`WAYBILL_API_KEYS\` in \`.env\`; the images hold the services
alone, so the command line runs from the repository or from any machine that reaches the API. No option takes the key itself, because
every process of a machine can read the arguments of every other; it is never printed. [api.md](api.md) says which role
may do what.

Results go to standard output, everything else to standard error. People get tables with times in UTC, and colours where
there is a screen and \`NO_COLOR\` is unset; text that others wrote cannot move the cursor. With \`--json\` a result is one
JSON document as the API gives it, and a list is one document per line, which is read as it comes:
\`waybill deliveries --state dead --all --json | jq -r .id\`. Ctrl-C ends a command at once, \`publish\` after the answer it
waits for; a second Ctrl-C ends that too.`;

const SUBSCRIBERS = `## Files of subscribers

\`subscribers apply\` reads every \`.yaml\`, \`.yml\` and \`.json\` file of a directory; a file may hold several documents.

\`\`\`yaml
id: clinic
url: https://clinic.example/hook
filter:
  statuses: [in_transit, delivered, exception]
delivery:
  timeoutMs: 5000
  ordering: strict
auth:
  type: bearer
  token: {fromEnv: CLINIC_TOKEN}   # or {fromFile: /run/secrets/clinic}
\`\`\`

Everything but \`id\` is the body of \`PUT /v1/subscribers/{id}\`, checked by the same schema before anything is changed; what
is left out takes its default, but for \`enabled\`: that stays as it is, so that nobody's emergency stop is undone by a
deployment. Stored secrets are shown by their fingerprints only and cannot be compared: \`--put-secrets\` puts them whether
anything else differs or not. A signing secret that is left out stays; where there is none, one is made and shown once.
What the scheduler alone can judge, such as whether its egress list allows an address, is told when it is applied, not by a
dry run.`;
