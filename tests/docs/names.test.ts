/** What pages call by name exists under that name. Reference pages are made from the code, so they say what there is. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { pages, ROOT } from './pages.ts';

const all = await pages();
const textOf = (path: string) => all.find((page) => page.path === path)?.text ?? '';

/** Everything that pages name in a way, with the first page that does. */
function named(pattern: RegExp, except: readonly string[] = ['CHANGELOG.md']): Map<string, string> {
  const found = new Map<string, string>();
  for (const { path, text } of all) {
    if (except.includes(path)) continue;
    for (const [, name = ''] of text.matchAll(pattern)) if (!found.has(name)) found.set(name, path);
  }
  return found;
}

it('every metric', () => {
  const reference = 'docs/metrics.md';
  const known = [...textOf(reference).matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name);
  const used = named(/\b(waybill_[a-z_]+[a-z])\b/g, [reference]);
  expect(used.size).toBeGreaterThan(10);
  expect([...used].filter(([name]) => !known.includes(name.replace(/_(bucket|sum|count)$/, '')))).toEqual([]);
});

it('every call', () => {
  const calls = [...textOf('docs/api.md').matchAll(/^\| `([A-Z]+) (\/\S+)` \| (?:yes|) \|/gm)].map(
    ([, method, path = '']) => new RegExp(`^${method} ${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  );
  expect(calls.length).toBeGreaterThan(30);
  const used = named(/\b((?:GET|POST|PUT|DELETE) \/v1\/[\w/{}.:-]*[\w}])/g, ['docs/api.md']);
  expect(used.size).toBeGreaterThan(20);
  expect([...used].filter(([call]) => !calls.some((known) => known.test(call)))).toEqual([]);
});

it('every command of the repository', async () => {
  const manifest = async (folder: string): Promise<Record<'scripts' | 'bin', Record<string, string>>> =>
    JSON.parse(await readFile(join(ROOT, folder, 'package.json'), 'utf8'));
  const [{ scripts }, { bin }] = await Promise.all([manifest('.'), manifest('packages/cli')]);
  // `exec` is pnpm's own.
  const known = { ...scripts, ...bin, exec: '' };
  const used = named(/\bpnpm(?:@10)? ([a-z]+)\b/g);
  expect(used.size).toBeGreaterThan(5);
  expect([...used].filter(([name]) => !Object.hasOwn(known, name))).toEqual([]);
});

it('every environment variable of the services', () => {
  const known = [...textOf('docs/configuration.md').matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name);
  /** Of the launcher, of tests and of examples, each explained where it is named. */
  const others =
    /^WAYBILL_(ENGINES|TEST_PROGRESS|FUZZ_SECONDS|FUZZ_SEED|CHROMIUM|CONSOLE_PICTURES|URL|API_KEY)$/;
  const used = named(/\b(WAYBILL_[A-Z_]+[A-Z])\b/g, ['docs/configuration.md', 'CHANGELOG.md']);
  expect(used.size).toBeGreaterThan(5);
  expect([...used].filter(([name]) => !known.includes(name) && !others.test(name))).toEqual([]);
});
