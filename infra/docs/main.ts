import { readFile, writeFile } from 'node:fs/promises';
import { referencePages } from './reference.ts';

const checkOnly = process.argv.includes('--check');
const stale: string[] = [];
for (const [name, text] of referencePages()) {
  const file = new URL(`../../docs/${name}`, import.meta.url);
  const present = await readFile(file, 'utf8').catch(() => '');
  if (present === text) continue;
  if (checkOnly) stale.push(name);
  else await writeFile(file, text);
}
if (stale.length > 0) {
  process.stderr.write(`docs/${stale.join(', docs/')} are not what the code says: run pnpm reference\n`);
  process.exitCode = 1;
}
