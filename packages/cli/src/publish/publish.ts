import type { Schemas } from '@waybill/client';
import { type Line, linesOf } from './lines.ts';
import { type PostDeps, post } from './post.ts';
import { type Counts, NOTHING_YET, type Progress, type ProgressFile } from './progress-file.ts';

/** What became of the event of a line. */
export type LineResult = Schemas['IngestResult'] & { readonly line: number };

export interface PublishDeps extends PostDeps {
  /** Most events of one request. */
  readonly batch: number;
  /** Null: a run that breaks off begins anew. */
  readonly progress: ProgressFile | null;
  readonly onResults: (results: readonly LineResult[]) => void;
  readonly onProgress: (progress: Progress) => void;
}

/** Longest body of a request, in bytes, unless a single event is longer: a batch of large events stays well below the limit. */
const MAX_BATCH_BYTES = 8 * 1024 * 1024;

/**
 * Publishes the events of an input, a request at a time, in their order, and notes after each answer how far it is.
 *
 * @param from where an earlier run broke off.
 * @returns what became of all of them, those of the earlier run included.
 * @throws the reason of `stopping`, between two requests; what was answered is noted by then.
 */
export async function publish(
  input: AsyncIterable<Uint8Array>,
  from: Progress | null,
  deps: PublishDeps,
): Promise<Counts> {
  let counts = (from ?? NOTHING_YET).counts;
  for await (const lines of batchesOf(linesOf(input, from?.mark ?? null), deps.batch)) {
    deps.stopping.throwIfAborted();
    const results = await resultsOf(lines, deps);
    counts = add(counts, results);
    deps.onResults(results);
    const last = lines.at(-1);
    if (last === undefined) continue;
    const mark = { bytes: last.end, lines: last.number, digest: last.digest() };
    await deps.progress?.write({ mark, counts });
    deps.onProgress({ mark, counts });
  }
  return counts;
}

/** Lines in groups. A group is handed on before the next line is read, so that the digest of its last line can be had. */
async function* batchesOf(lines: AsyncIterable<Line>, most: number): AsyncGenerator<Line[]> {
  let batch: Line[] = [];
  let bytes = 0;
  for await (const line of lines) {
    batch.push(line);
    bytes += line.text?.length ?? 0;
    if (batch.length < most && bytes < MAX_BATCH_BYTES) continue;
    yield batch;
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) yield batch;
}

async function resultsOf(lines: readonly Line[], deps: PostDeps): Promise<LineResult[]> {
  const texts = lines.flatMap(({ text }) => text ?? []);
  const answers = texts.length > 0 ? await post(texts, deps) : [];
  const next = answers[Symbol.iterator]();
  const told = lines.filter(({ text, fault }) => text !== null || fault !== null);
  return told.map(({ number, text, fault }) => {
    const answer = text === null ? unsent(fault ?? '') : next.next().value;
    if (answer === undefined)
      throw new Error(`${texts.length} events were posted, ${answers.length} were answered`);
    return { line: number, ...ofOneEvent(answer) };
  });
}

/** What is said of it begins at the event, not at the list that it was posted in. */
function ofOneEvent({ problem, ...answer }: Schemas['IngestResult']): Schemas['IngestResult'] {
  if (problem === undefined) return answer;
  const alone = (text: string) => text.replace(/^\$\[\d+\]/, '$');
  const faults = problem.faults?.map(({ path, message }) => ({ path: alone(path), message }));
  return {
    ...answer,
    problem: {
      ...problem,
      ...(faults === undefined ? {} : { faults }),
      ...(problem.detail === undefined ? {} : { detail: alone(problem.detail) }),
    },
  };
}

/** What the API would say of it, if it could be asked. */
function unsent(message: string): Schemas['IngestResult'] {
  const problem = {
    type: 'urn:waybill:problem:invalid_json',
    title: 'The body is not JSON',
    status: 400,
    code: 'invalid_json' as const,
    faults: [{ path: '$', message }],
  };
  return { shipmentId: null, eventVersion: null, result: 'invalid', problem };
}

function add(counts: Counts, results: readonly LineResult[]): Counts {
  const sum = { ...counts };
  for (const { result } of results) sum[result] += 1;
  return sum;
}
