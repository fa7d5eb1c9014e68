import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { openIssues, wordsOf } from '@waybill/shared/contracts/fault-words';
import { type SubscriberInput, subscriberId, subscriberInput } from '@waybill/shared/contracts/subscriber';
import { type Document, parseAllDocuments } from 'yaml';
import type { Io } from '../io.ts';

/** A subscriber as a file wants it to be. */
export interface Wanted {
  readonly id: string;
  /** Which file says so. */
  readonly file: string;
  /** What is put: as it is written, its secrets filled in. */
  readonly body: Readonly<Record<string, unknown>>;
  /** The same with every default. */
  readonly input: SubscriberInput;
  /** Whether the file says anything about `enabled`; if not, that is left as it is. */
  readonly saysEnabled: boolean;
}

/** Files that cannot be followed: every fault of all of them. */
export class FileFaults extends Error {
  override readonly name = 'FileFaults';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(['Nothing was changed:', ...faults.map((fault) => `  - ${fault}`)].join('\n'));
    this.faults = faults;
  }
}

const EXTENSIONS = /\.(ya?ml|json)$/i;

/**
 * Reads every subscriber that a file, or the YAML and JSON files of a directory, describe: a document each, its id
 * beside the fields that the API takes.
 *
 * @param env what `{fromEnv: NAME}` in `auth` refers to.
 * @throws FileFaults with every fault; it never shows what a secret holds.
 */
export function readSubscribers(path: string, env: Io['env']): Wanted[] {
  const faults: string[] = [];
  const wanted: Wanted[] = [];
  const fileOf = new Map<string, string>();
  for (const file of filesIn(path, faults)) {
    for (const { document, place } of documentsIn(file, faults)) {
      const read = readOne(document, place, env, faults);
      if (read === null) continue;
      const other = fileOf.get(read.id);
      if (other !== undefined) faults.push(`${place}: ${read.id} is described in ${other} already`);
      fileOf.set(read.id, place);
      wanted.push(read);
    }
  }
  if (faults.length > 0) throw new FileFaults(faults);
  return wanted;
}

function filesIn(path: string, faults: string[]): string[] {
  try {
    if (!statSync(path).isDirectory()) return [path];
    const entries = readdirSync(path, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => !entry.isDirectory() && EXTENSIONS.test(entry.name));
    if (files.length === 0) faults.push(`${path} holds no .yaml, .yml or .json file`);
    return files.map(({ parentPath, name }) => join(parentPath, name)).toSorted();
  } catch (error) {
    faults.push(`${path} cannot be read: ${(error as Error).message}`);
    return [];
  }
}

/** JSON is YAML too. */
function documentsIn(file: string, faults: string[]): { document: unknown; place: string }[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    faults.push(`${file} cannot be read: ${(error as Error).message}`);
    return [];
  }
  const documents = [...parseAllDocuments(text)];
  return documents.flatMap((document, index) => {
    const place = documents.length > 1 ? `${file} document ${index + 1}` : file;
    // Behind its first line a message shows what stands there, which may be a secret.
    for (const { message } of document.errors)
      faults.push(`${place}: ${(message.split('\n')[0] ?? '').replace(/:$/, '')}`);
    if (document.errors.length > 0) return [];
    const value = resolved(document, place, faults);
    // What stands before the first `---` and behind the last one may be nothing but a comment.
    return value === null ? [] : [{ document: value, place }];
  });
}

/** Anchors and aliases are resolved here: one may be missing, or stand for itself, or for more than a memory holds. */
function resolved(document: Document.Parsed | Document, place: string, faults: string[]): unknown {
  try {
    const value: unknown = document.toJS();
    JSON.stringify(value);
    return value;
  } catch (error) {
    const reason = error instanceof ReferenceError ? error.message : 'an alias stands inside its own anchor';
    faults.push(`${place}: ${reason}`);
    return null;
  }
}

function readOne(document: unknown, place: string, env: Io['env'], faults: string[]): Wanted | null {
  if (typeof document !== 'object' || document === null || Array.isArray(document)) {
    faults.push(`${place}: must be an object: the id of a subscriber and its fields`);
    return null;
  }
  const { id: givenId, ...fields } = document as Record<string, unknown>;
  const before = faults.length;
  const id = subscriberId.safeParse(givenId);
  if (!id.success)
    faults.push(
      `${place}: id ${givenId === undefined ? 'is required' : wordsOf(id.error.issues[0] as never)}`,
    );
  const body =
    'auth' in fields ? { ...fields, auth: filledIn(fields.auth, 'auth', { place, env, faults }) } : fields;
  if (faults.length > before) return null;
  const parsed = subscriberInput.safeParse(body);
  for (const issue of openIssues(parsed.error?.issues ?? []))
    faults.push(`${place}: ${[issue.path.map(String).join('.'), wordsOf(issue)].filter(Boolean).join(' ')}`);
  if (!parsed.success || !id.success) return null;
  return { id: id.data, file: place, body, input: parsed.data, saysEnabled: 'enabled' in fields };
}

interface Filling {
  readonly place: string;
  readonly env: Io['env'];
  readonly faults: string[];
}

/** Puts secrets where a file only says where they are. */
function filledIn(value: unknown, path: string, filling: Filling): unknown {
  if (Array.isArray(value)) return value.map((item, index) => filledIn(item, `${path}[${index}]`, filling));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  const [first] = entries;
  if (entries.length === 1 && first !== undefined && typeof first[1] === 'string') {
    if (first[0] === 'fromEnv') return fromEnvironment(first[1], path, filling);
    if (first[0] === 'fromFile') return fromFile(first[1], path, filling);
  }
  return Object.fromEntries(
    entries.map(([name, inner]) => [name, filledIn(inner, `${path}.${name}`, filling)]),
  );
}

function fromEnvironment(name: string, path: string, { place, env, faults }: Filling): unknown {
  const value = env[name];
  if (!value) faults.push(`${place}: ${path} is taken from ${name}, which is not set`);
  return value;
}

/** A line break at the end is the editor's, but of a PEM it is of no matter either. */
function fromFile(file: string, path: string, { place, faults }: Filling): unknown {
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    faults.push(`${place}: ${path} is taken from ${file}, which cannot be read: ${(error as Error).message}`);
    return undefined;
  }
}
