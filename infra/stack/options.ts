import { parseArgs } from 'node:util';
import type { JaegerWish } from '../engines/jaeger.ts';
import { SERVICES, type ServiceName } from './services.ts';

export const USAGE = `Usage: pnpm stack [options]

Starts Kafka, MongoDB, the schema registry and the three services, without demo data. Prints one line,
"waybill ready {json}", on standard output when they can serve; everything else goes to standard error.
Ctrl-C or SIGTERM stops them all.

Options:
  --schedulers N    how many schedulers (default 1)
  --dispatchers N   how many dispatchers (default 1)
  --sweepers N      how many sweepers (default 1)
                    "pids" holds an array for a service whose option is given, also with 1, else one number
  --jaeger          build Jaeger first if it is not in the cache: once, with Go, in some minutes
  --no-jaeger       do not start Jaeger; without either option it is started if it was built before.
                    It answers its API; the page is only in its image
  --data DIR        keep data, keys and logs in DIR and use them again; without it they go when the stack stops
  --help            show this

Environment:
  KAFKA_BROKERS, MONGODB_URI, SCHEMA_REGISTRY_URL   engines that run already; those are not started
  OTEL_EXPORTER_OTLP_ENDPOINT, WAYBILL_JAEGER_URL   where traces go and are looked at; no Jaeger is started then
  WAYBILL_ENGINES=docker                            takes engines from containers
  WAYBILL_CACHE_DIR                                 where downloads are kept (default ~/.cache/waybill)
  MONGOD_BIN                                        the mongod to run
  WAYBILL_API_KEYS, WAYBILL_SECRET_KEYS             random ones are made where unset
What the services read, docs/configuration.md lists.

Exit status: 0 stopped as asked, 64 wrong arguments, 69 an engine that was named does not answer, 78 faults in the
environment (found before anything is started, all at once), 1 anything else.
`;

const MAX_COUNT = 32;

export interface StackCommand {
  help: boolean;
  /** Only of what was asked for. */
  counts: Partial<Record<ServiceName, number>>;
  dataDir: string | undefined;
  jaeger: JaegerWish;
}

/** A command line that cannot be followed; the message says which part. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Reads the arguments after the script's name. Throws UsageError. */
export function parseStackCommand(args: readonly string[]): StackCommand {
  const { values } = parse(args[0] === '--' ? args.slice(1) : args);
  const counts: StackCommand['counts'] = {};
  for (const service of SERVICES) {
    const flag = `${service}s` as const;
    const given = values[flag];
    if (given !== undefined) counts[service] = parseCount(flag, given);
  }
  if (values.data === '') throw new UsageError('--data needs a directory');
  const jaeger = values.jaeger === undefined ? 'cached' : values.jaeger ? 'build' : 'off';
  return { help: values.help === true, counts, dataDir: values.data, jaeger };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowNegative: true,
      options: {
        schedulers: { type: 'string' },
        dispatchers: { type: 'string' },
        sweepers: { type: 'string' },
        data: { type: 'string' },
        jaeger: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function parseCount(flag: string, text: string): number {
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= 1 && count <= MAX_COUNT) return count;
  throw new UsageError(`--${flag} must be a whole number from 1 to ${MAX_COUNT}, not "${text}"`);
}
