import { glob, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

const PAGES = ['*.md', 'docs/**/*.md', 'examples/**/*.md'];

/** A page for people, by its path from the root. */
export interface Page {
  readonly path: string;
  readonly text: string;
}

/** A fenced block of a page. */
export interface Block {
  readonly path: string;
  /** What it says it is: `sh`, `json`; empty if nothing. */
  readonly language: string;
  readonly text: string;
}

/** Every page that is written for people. */
export async function pages(): Promise<Page[]> {
  const found: Page[] = [];
  const exclude = ['**/node_modules/**'];
  for await (const path of glob(PAGES, { cwd: ROOT, exclude })) {
    found.push({ path, text: await readFile(`${ROOT}${path}`, 'utf8') });
  }
  return found.sort((a, b) => a.path.localeCompare(b.path));
}

export function blocksOf({ path, text }: Page): Block[] {
  return [...text.matchAll(/^( *)```(\S*)\n([\s\S]*?)^\1```$/gm)].map(
    ([, indent = '', language = '', inside = '']) => ({
      path,
      language,
      text: inside.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  );
}

/** The page without what is in blocks and in code. */
export function proseOf({ text }: Page): string {
  return text.replaceAll(/^( *)```[\s\S]*?^\1```$/gm, '').replaceAll(/`[^`\n]*`/g, 'code');
}
