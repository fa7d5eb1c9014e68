/**
 * What the containers of the compose profile `demo` run: `subscribers`, the sample subscribers, or `upstream`, the
 * system that posts the sample events to them. Both stay until SIGTERM, and are ready by `/readyz` on HTTP_PORT.
 */

import { ConfigurationError } from '@waybill/shared/config/environment';
import { serveSubscribers } from './subscribers.ts';
import { playUpstream } from './upstream.ts';

const EXIT_FAILED = 1;
/** EX_USAGE and EX_CONFIG of sysexits.h. */
const EXIT_USAGE = 64;
const EXIT_CONFIGURATION = 78;

const ROLES = { subscribers: serveSubscribers, upstream: playUpstream } as const;

const stopping = new AbortController();
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stopping.abort());

const [role = ''] = process.argv.slice(2);
const run = Object.entries(ROLES).find(([name]) => name === role)?.[1];
if (run === undefined) {
  process.stderr.write(`demo: give one of ${Object.keys(ROLES).join(', ')}, not "${role}"\n`);
  process.exit(EXIT_USAGE);
}
try {
  process.exit((await run(process.env, stopping.signal)) ? 0 : EXIT_FAILED);
} catch (error) {
  if (stopping.signal.aborted) process.exit(0);
  process.stderr.write(`demo: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(error instanceof ConfigurationError ? EXIT_CONFIGURATION : EXIT_FAILED);
}
