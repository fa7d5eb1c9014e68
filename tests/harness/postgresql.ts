import { mkdtemp, readdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { cacheDirectory, installed } from '@waybill/infra/engines/cache';
import { findCommand, isExecutableFile } from '@waybill/infra/engines/command-path';
import { PortTakenError, saysPortTaken, withFreePorts } from '@waybill/infra/engines/ports';
import { runCommand } from '@waybill/infra/engines/run-command';
import { Client } from 'pg';
import { runToSuccess, startProgram } from './program.ts';
import { eventually } from './waiting.ts';

const GET_MS = 300_000;
/** Where Debian's packages put it, below the root that they are unpacked to. */
const DEBIAN_HOMES = 'usr/lib/postgresql';

export interface Postgresql extends AsyncDisposable {
  /** As superuser. */
  readonly url: string;
}

/** A server of its own, on this machine's PostgreSQL or Debian's. A text where there is none: why. */
export async function startPostgresql(): Promise<Postgresql | string> {
  const programs = await findPrograms().catch((error: unknown) => String(error));
  if (programs === null) return 'no PostgreSQL here, and no apt-get to get it with';
  return typeof programs === 'string' ? programs : await start(programs);
}

interface Programs {
  /** The directory of `initdb` and `postgres`. */
  readonly bin: string;
  /** Of packages that were unpacked and not installed; null where the system has them. */
  readonly root: string | null;
}

async function findPrograms(): Promise<Programs | null> {
  const { env } = process;
  const command = await findCommand(env, 'initdb');
  if (command !== undefined) return { bin: dirname(await realpath(command)), root: null };
  const here = await newestBelow('/');
  if (here !== null) return { bin: here, root: null };
  const apt = await findCommand(env, 'apt-get');
  if (apt === undefined) return null;
  const root = await installed(
    cacheDirectory(env),
    {
      name: 'postgresql-debian',
      title: 'PostgreSQL',
      megabytes: 60,
      fill: (directory) => unpackDebian(apt, directory),
    },
    () => {},
    AbortSignal.timeout(GET_MS),
  );
  const bin = await newestBelow(root);
  return bin === null ? null : { bin, root };
}

async function newestBelow(root: string): Promise<string | null> {
  const versions = await readdir(join(root, DEBIAN_HOMES)).catch(() => []);
  for (const version of versions.sort((a, b) => Number(b) - Number(a))) {
    const bin = join(root, DEBIAN_HOMES, version, 'bin');
    if (await isExecutableFile(join(bin, 'initdb'))) return bin;
  }
  return null;
}

/** Downloads the server and whatever of its needs is missing here, and unpacks it; nothing is installed. */
async function unpackDebian(apt: string, directory: string): Promise<void> {
  const { env } = process;
  const archives = join(directory, 'archives');
  const options = ['-o', `Dir::Cache::archives=${archives}`, '-o', 'Debug::NoLocking=1'];
  const get = () =>
    runCommand(
      apt,
      ['install', '--yes', '--quiet', '--download-only', '--no-install-recommends', ...options, 'postgresql'],
      { env, timeoutMs: GET_MS },
    );
  await runCommand('mkdir', ['-p', join(archives, 'partial')], { env, timeoutMs: GET_MS });
  await get().catch(async () => {
    await runCommand(apt, ['update', '--quiet'], { env, timeoutMs: GET_MS });
    await get();
  });
  for (const name of await readdir(archives)) {
    if (!name.endsWith('.deb')) continue;
    await runCommand('dpkg', ['-x', join(archives, name), directory], { env, timeoutMs: GET_MS });
  }
  await rm(archives, { recursive: true });
}

async function start({ bin, root }: Programs): Promise<Postgresql> {
  const home = await mkdtemp(join(tmpdir(), 'waybill-postgresql-'));
  await using undo = new AsyncDisposableStack();
  undo.defer(() => rm(home, { recursive: true, force: true }));
  const owner = await ownerOf(home);
  // Somebody else may not see what is below this user's home.
  const here = root === null ? bin : join(home, bin.slice(root.length));
  if (root !== null) await runToSuccess(['cp', '-r', `${root}/.`, home]);
  const env = root === null ? {} : { LD_LIBRARY_PATH: await librariesBelow(home) };
  const data = join(home, 'data');
  await runToSuccess(
    [...owner, join(here, 'initdb'), '-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '-N'],
    {
      env: { ...env, LC_ALL: 'C' },
      cwd: home,
    },
  );
  const { server, url } = await withFreePorts(1, async ([port]) => {
    const settings = ['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='];
    const started = await startProgram(
      [...owner, join(here, 'postgres'), '-D', data, '-p', `${port}`, ...settings],
      {
        env,
        cwd: home,
      },
    );
    const address = `postgresql://postgres@127.0.0.1:${port}/postgres`;
    let ended: string | null = null;
    void started.ended.then(({ stderr }) => {
      ended = stderr;
    });
    await eventually(async () => {
      if (ended !== null) return;
      const client = new Client(address);
      await client.connect();
      await client.end();
    });
    if (ended === null) return { server: started, url: address };
    throw saysPortTaken(ended) ? new PortTakenError(ended) : new Error(ended);
  });
  undo.use(server);
  const all = undo.move();
  return { url, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** The words before a command that run it as somebody who may: PostgreSQL refuses root. */
async function ownerOf(directory: string): Promise<string[]> {
  if (process.getuid?.() !== 0) return [];
  await runToSuccess(['chown', 'nobody', directory]);
  return ['setpriv', '--reuid=nobody', '--regid=nogroup', '--clear-groups'];
}

async function librariesBelow(root: string): Promise<string> {
  const found = await readdir(join(root, 'usr', 'lib'), { withFileTypes: true });
  const folders = found.filter((entry) => entry.isDirectory() && entry.name.endsWith('-linux-gnu'));
  return folders.map(({ name }) => join(root, 'usr', 'lib', name)).join(':');
}
