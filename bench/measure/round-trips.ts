import type { Database } from '@waybill/shared/stores/client';

/** The commands that services send for their work; what drivers send by themselves is not among them. */
const COMMANDS = [
  'aggregate',
  'bulkWrite',
  'commitTransaction',
  'count',
  'delete',
  'distinct',
  'find',
  'findAndModify',
  'getMore',
  'insert',
  'update',
] as const;

type Counts = Readonly<Record<string, number>>;

/** What `serverStatus` says of a command. */
interface CommandCounter {
  readonly total?: number | bigint;
}

/**
 * Begins to count the commands that the server executes: each is one round trip, however many rows it names.
 *
 * @returns how many there were since, by command, each time it is called.
 */
export async function countCommands(database: Database): Promise<() => Promise<Counts>> {
  const began = await commandsOf(database);
  return async () => {
    const ended = await commandsOf(database);
    return Object.fromEntries(
      Object.entries(ended)
        .map(([name, total]) => [name, total - (began[name] ?? 0)] as const)
        .filter(([, count]) => count > 0),
    );
  };
}

async function commandsOf({ db }: Database): Promise<Record<string, number>> {
  const { metrics } = await db.admin().command({ serverStatus: 1, metrics: 1, repl: 0 });
  const commands = metrics.commands as Record<string, CommandCounter>;
  return Object.fromEntries(COMMANDS.map((name) => [name, Number(commands[name]?.total ?? 0)]));
}

export function sumOf(counts: Counts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
