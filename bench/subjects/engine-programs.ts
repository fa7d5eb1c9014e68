import { execFile } from 'node:child_process';
import { chown, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findCommand, isExecutableFile } from '@waybill/infra/engines/command-path';
import { type RunningEngine, runEngine } from '@waybill/infra/engines/engine-process';
import { pollUntil } from '@waybill/infra/engines/poll';
import { freePort } from '@waybill/infra/engines/ports';

const run = promisify(execFile);

/** Where Debian's packages put PostgreSQL's programs, newest first; they are not on the PATH. */
const POSTGRES_DIRECTORIES = [18, 17, 16, 15, 14].map((version) => `/usr/lib/postgresql/${version}/bin`);
const POLL_MS = 50;
/** PostgreSQL refuses to run as root. */
const UNPRIVILEGED_USERS = ['postgres', 'nobody'];

export interface YardstickEngine {
  readonly pid: number;
  readonly url: string;
  stop(): Promise<void>;
}

export interface YardstickPrograms {
  readonly redis: string;
  readonly initdb: string;
  readonly postgres: string;
}

/** The programs of the plain job queue; null with what to install where one is missing. */
export async function findPrograms(
  env: NodeJS.ProcessEnv,
): Promise<YardstickPrograms | { readonly missing: string }> {
  const redis = await findCommand(env, 'redis-server', 'valkey-server');
  const path = [env.PATH, ...POSTGRES_DIRECTORIES].join(':');
  const initdb = await findCommand({ PATH: path }, 'initdb');
  const postgres = initdb?.replace(/initdb$/, 'postgres');
  if (redis === undefined)
    return { missing: 'redis-server is not on the PATH: apt-get install redis-server' };
  if (initdb === undefined || postgres === undefined || !(await isExecutableFile(postgres)))
    return { missing: 'PostgreSQL is not there: apt-get install postgresql' };
  return { redis, initdb, postgres };
}

/** Redis that keeps what it was given as BullMQ's documentation asks for: append-only file, flushed every second. */
export async function startRedis(
  { redis }: YardstickPrograms,
  directory: string,
  progress: (line: string) => void,
): Promise<YardstickEngine> {
  const place = join(directory, 'redis');
  await mkdir(place);
  const port = await freePort();
  const args = [
    ...['--bind', '127.0.0.1', '--port', String(port), '--dir', place, '--save', ''],
    ...['--appendonly', 'yes', '--appendfsync', 'everysec', '--maxmemory-policy', 'noeviction'],
  ];
  const engine = await runEngine(
    {
      title: 'Redis',
      command: redis,
      args,
      untilReady: (log, signal) =>
        pollUntil(async () => (await log()).includes('Ready to accept connections'), POLL_MS, signal),
    },
    { ...placeOf(place, progress), logFile: join(directory, 'redis.log') },
  );
  return running(engine, `redis://127.0.0.1:${port}`);
}

/** PostgreSQL with the settings it comes with: every commit is flushed to disk before it is confirmed. */
export async function startPostgres(
  { initdb, postgres }: YardstickPrograms,
  directory: string,
  progress: (line: string) => void,
): Promise<YardstickEngine> {
  const place = join(directory, 'postgresql');
  await mkdir(place);
  const user = process.getuid?.() === 0 ? await unprivilegedUser() : null;
  if (user !== null) {
    // The way to its directory must be open to it too.
    await chown(place, user.uid, user.gid);
    await run('chmod', ['711', directory]);
  }
  const as = (command: string, args: readonly string[]): [string, string[]] =>
    user === null
      ? [command, [...args]]
      : ['setpriv', [`--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups', command, ...args]];
  await run(...as(initdb, ['-D', place, '-U', 'bench', '-A', 'trust', '--no-sync']), { cwd: place });
  const port = await freePort();
  const [command, args] = as(postgres, ['-D', place, '-h', '127.0.0.1', '-p', String(port), '-k', '']);
  const engine = await runEngine(
    {
      title: 'PostgreSQL',
      command,
      args,
      untilReady: (log, signal) =>
        pollUntil(async () => (await log()).includes('ready to accept connections'), POLL_MS, signal),
    },
    { ...placeOf(place, progress), logFile: join(directory, 'postgresql.log') },
  );
  return running(engine, `postgres://bench@127.0.0.1:${port}/postgres`);
}

function placeOf(directory: string, progress: (line: string) => void) {
  return { directory, graceMs: 0, progress, starting: new AbortController().signal };
}

function running(engine: RunningEngine, url: string): YardstickEngine {
  return {
    url,
    get pid() {
      return engine.pid;
    },
    stop: () => engine.stop(),
  };
}

async function unprivilegedUser(): Promise<{ uid: number; gid: number }> {
  for (const name of UNPRIVILEGED_USERS) {
    const id = (flag: string) => run('id', [flag, name]).then(({ stdout }) => Number(stdout));
    try {
      return { uid: await id('-u'), gid: await id('-g') };
    } catch {}
  }
  throw new Error(`PostgreSQL does not run as root, and there is no user ${UNPRIVILEGED_USERS.join(' or ')}`);
}
