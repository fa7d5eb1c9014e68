import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { cacheDirectory, type Installation, installed } from '@waybill/infra/engines/cache';
import { findCommand } from '@waybill/infra/engines/command-path';
import { runCommand } from '@waybill/infra/engines/run-command';
import { type Browser, chromium } from 'playwright-core';

const DOWNLOAD_MS = 240_000;
/** Where Playwright's installer gets it. It answers soon or not at all, and the installer would try for minutes. */
const SITE = { url: 'https://cdn.playwright.dev/', withinMs: 5_000 };
const PACKAGES = ['chromium', 'fonts-dejavu-core'];
/** Every run is like every other: no sandbox (root has none), no GPU, English. */
const ARGUMENTS = ['--no-sandbox', '--disable-gpu', '--lang=en-GB'];

/** A browser program, and what it needs to be found. */
interface Program {
  readonly path: string;
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Chromium: the one that `WAYBILL_CHROMIUM` or the PATH names, else Playwright's, else Debian's, fetched once and kept in
 * the cache. @throws saying what was tried and what helps.
 */
export async function startBrowser(): Promise<Browser> {
  const { path, env } = await findChromium();
  return await chromium.launch({
    executablePath: path,
    args: ARGUMENTS,
    env: { ...(process.env as Record<string, string>), ...env },
  });
}

async function findChromium(): Promise<Program> {
  const { env } = process;
  if (env.WAYBILL_CHROMIUM) return { path: env.WAYBILL_CHROMIUM };
  const onPath = await findCommand(env, 'chromium', 'chromium-browser', 'google-chrome');
  if (onPath !== undefined) return { path: onPath };
  const tried: string[] = [];
  for (const fetch of [fromPlaywright, fromDebian]) {
    try {
      return await fetch();
    } catch (error) {
      tried.push(
        `- ${error instanceof Error ? error.message.split('\n').slice(-3).join(' ') : String(error)}`,
      );
    }
  }
  throw new Error(
    `The tests of the console need Chromium, and it cannot be had here:\n${tried.join('\n')}\nInstall it, or name one in WAYBILL_CHROMIUM.`,
  );
}

const install = (installation: Installation) =>
  installed(cacheDirectory(process.env), installation, () => {}, AbortSignal.timeout(DOWNLOAD_MS));

/** Playwright's build, by its own installer. */
async function fromPlaywright(): Promise<Program> {
  await fetch(SITE.url, { method: 'HEAD', signal: AbortSignal.timeout(SITE.withinMs) }).catch(() => {
    throw new Error(`${SITE.url} does not answer`);
  });
  const require = createRequire(import.meta.url);
  const folder = dirname(require.resolve('playwright-core/package.json'));
  const { version } = require('playwright-core/package.json') as { version: string };
  const cached = await install({
    name: `playwright-chromium-${version}`,
    title: 'Chromium',
    megabytes: 110,
    async fill(directory) {
      const args = [join(folder, 'cli.js'), 'install', '--only-shell', 'chromium'];
      const env = { ...process.env, PLAYWRIGHT_BROWSERS_PATH: directory };
      await runCommand(process.execPath, args, { env, timeoutMs: DOWNLOAD_MS });
    },
  });
  const files = await readdir(cached, { recursive: true });
  const shell = files.find((file) => /\/(chrome-)?headless[-_]shell$/.test(file));
  if (shell === undefined) throw new Error(`Playwright's installer left no browser in ${cached}`);
  return { path: join(cached, shell) };
}

/** Debian's packages with all that the machine lacks for them, unpacked into the cache: nothing is installed. */
async function fromDebian(): Promise<Program> {
  const { env } = process;
  if ((await findCommand(env, 'apt-get')) === undefined) throw new Error('there is no apt-get');
  const cached = await install({
    name: 'debian-chromium',
    title: 'Chromium',
    megabytes: 125,
    async fill(directory) {
      const state = join(directory, 'apt');
      const archives = join(state, 'archives');
      await mkdir(join(archives, 'partial'), { recursive: true });
      await mkdir(join(state, 'lists/partial'), { recursive: true });
      const options = [
        ...['-o', `Dir::Cache=${state}`, '-o', `Dir::Cache::archives=${archives}`],
        ...['-o', `Dir::State::lists=${join(state, 'lists')}`, '-o', 'Debug::NoLocking=1', '-qq'],
      ];
      const run = (command: string, args: readonly string[]) =>
        runCommand(command, args, { env: { ...env, LC_ALL: 'C' }, timeoutMs: DOWNLOAD_MS });
      await run('apt-get', [...options, 'update']);
      const wanted = [
        '--no-install-recommends',
        '--reinstall',
        '--download-only',
        '-y',
        'install',
        ...PACKAGES,
      ];
      await run('apt-get', [...options, ...wanted]);
      for (const file of await readdir(archives)) {
        if (file.endsWith('.deb')) await run('dpkg-deb', ['-x', join(archives, file), directory]);
      }
      await rm(state, { recursive: true });
    },
  });
  const libraries = join(cached, 'usr/lib');
  const [triplet = ''] = (await readdir(libraries)).filter((name) => name.endsWith('-linux-gnu'));
  const path = join(libraries, 'chromium/chromium');
  await stat(path);
  const searched = [
    join(libraries, triplet),
    join(cached, 'lib', triplet),
    join(libraries, triplet, 'pulseaudio'),
  ];
  return { path, env: { LD_LIBRARY_PATH: searched.join(':'), XDG_DATA_HOME: join(cached, 'usr/share') } };
}
