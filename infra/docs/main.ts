import { readFile, writeFile } from 'node:fs/promises';
import { apiTypes } from './api-types.ts';
import { referencePages } from './reference.ts';

const checkOnly = process.argv.includes('--check');
const made = new Map([
  ...[...referencePages()].map(([name, text]) => [`docs/${name}`, text] as const),
  ['packages/client/src/api.ts', await apiTypes()] as const,
]);
const stale: string[] = [];
for (const [name, text] of made) {
  const file = new URL(`../../${name}`, import.meta.url);
  const present = await readFile(file, 'utf8').catch(() => '');
  if (present === text) continue;
  if (checkOnly) stale.push(name);
  else await writeFile(file, text);
}
if (stale.length > 0) {
  process.stderr.write(`${stale.join(', ')}: not what the code says: run pnpm reference\n`);
  process.exitCode = 1;
}
