import { access } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { expect, it } from 'vitest';
import { pages, proseOf, ROOT } from './pages.ts';

/** As GitHub makes it of a heading. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-');

it('every link between pages leads somewhere', async () => {
  const all = await pages();
  const anchors = new Map(
    all.map(({ path, text }) => [
      path,
      new Set([...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading))),
    ]),
  );
  const broken: string[] = [];
  let followed = 0;
  for (const page of all) {
    for (const [, target = ''] of proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) continue;
      const [file = '', anchor] = target.split('#');
      const path = file === '' ? page.path : normalize(join(dirname(page.path), file));
      const isThere = await access(join(ROOT, path)).then(
        () => true,
        () => false,
      );
      const hasAnchor = anchor === undefined || anchors.get(path)?.has(anchor) === true;
      if (!isThere || !hasAnchor) broken.push(`${page.path}: ${target}`);
      followed += 1;
    }
  }
  expect(broken).toEqual([]);
  expect(followed).toBeGreaterThan(50);
});
