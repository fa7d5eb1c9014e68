import { parseArgs } from 'node:util';

export const USAGE = `Usage: pnpm demo [--once]

Starts the engines and the three services on this machine, plays the status events of some sample shipments to sample
subscribers that behave well, badly and not at all, and prints what is on record of every delivery. Then it compares
the record with what the subscribers counted themselves.

  --once   end after that, instead of serving on until Ctrl-C
  --help   this text

Exit status: 0 when every delivery is terminal and the counts agree, 1 when not or when something could not be
started, 64 for arguments that are not understood, 78 when the environment is wrong, 128 and the signal's number when
it was interrupted before the end.

Environment: as for \`pnpm stack\`. With KAFKA_BROKERS, MONGODB_URI and SCHEMA_REGISTRY_URL it uses those engines; new
shipments get the next free numbers, and the sample subscribers (demo-...) are removed at the end.
`;

export type Command =
  | { readonly kind: 'run'; readonly once: boolean }
  | { readonly kind: 'help' }
  | { readonly kind: 'mistake'; readonly message: string };

/** @param args without program and script. Never throws. */
export function readArguments(args: readonly string[]): Command {
  try {
    const { values } = parseArgs({
      // Some package managers hand on the `--` that parts their arguments from ours.
      args: args[0] === '--' ? args.slice(1) : [...args],
      options: {
        once: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    return values.help ? { kind: 'help' } : { kind: 'run', once: values.once };
  } catch (error) {
    return { kind: 'mistake', message: error instanceof Error ? error.message : String(error) };
  }
}
