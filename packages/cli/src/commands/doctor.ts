import { Command } from 'commander';
import { examples, type GlobalOptions } from '../context.ts';
import { checkApi } from '../doctor/check-api.ts';
import type { Finding } from '../doctor/finding.ts';
import { AnswerIsNo } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import { Output } from '../output/output.ts';

export function doctorCommand(io: Io): Command {
  return new Command('doctor')
    .summary('what is wrong with this Waybill, and what to do')
    .description(
      'Looks at Waybill from here: address, key and its role, readiness, clock, whether ticks come. Where KAFKA_BROKERS, MONGODB_URI and SCHEMA_REGISTRY_URL are set as the services have them, also at the engines: topics, schemas, indexes, the clock of the database, and whether each service takes messages. Changes nothing. Ends with 1 where something is wrong, and says what to do.',
    )
    .addHelpText('after', examples('waybill doctor', 'waybill doctor --json'))
    .action((_options: object, command: Command) => examine(command.optsWithGlobals<GlobalOptions>(), io));
}

async function examine(options: GlobalOptions, io: Io): Promise<void> {
  const output = new Output(io, options.json === true);
  // The clients of the engines take their time to load, and no other command needs them.
  const { checkEngines } = await import('../doctor/check-engines.ts');
  const findings = (await Promise.all([checkApi(options, io), checkEngines(io.env)])).flat();
  const paint = (cell: string, { state }: Finding) =>
    ({ ok: output.good(cell), fault: output.bad(cell), skipped: output.dim(cell) })[state];
  await output.list(
    findings,
    [
      { title: 'STATE', of: ({ state }) => state, paint },
      { title: 'CHECK', of: ({ check }) => check },
      { title: 'FOUND', of: ({ detail }) => detail },
    ],
    '',
  );
  for (const { check, advice } of output.json ? [] : findings)
    if (advice !== null) output.note(`${check}: ${advice}`);
  if (findings.some(({ state }) => state === 'fault')) throw new AnswerIsNo();
}
