import { ApiError, answerOf, itemsOf, type Schemas } from '@waybill/client';
import type { Context } from '../context.ts';
import { AnswerIsNo, CommandError } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import { visible } from '../output/table.ts';
import { type Change, planOf, type Step } from './plan.ts';
import { FileFaults, readSubscribers, type Wanted } from './read-directory.ts';

export interface ApplyOptions {
  readonly file: string;
  readonly dryRun?: true;
  readonly exitCode?: true;
  readonly prune?: true;
  readonly putSecrets?: true;
}

/** What became of a step. */
interface Applied extends Omit<Step, 'body' | 'hasSecret'> {
  readonly applied: boolean;
  readonly problem: string | null;
  /** The signing secret that was made, shown this once. */
  readonly secret?: string;
}

/** Makes subscribers as files describe them; shows each difference and what became of it. */
export async function apply({ io, output, waybill }: Context, options: ApplyOptions): Promise<void> {
  const wanted = read(options.file, io.env);
  // Files that were moved or emptied by mistake are more likely than the wish to remove everybody.
  if (options.prune && wanted.length === 0)
    throw new CommandError(
      'data',
      `${options.file} describes no subscriber: --prune would remove all of them`,
    );
  const present: Schemas['Subscriber'][] = [];
  const list = itemsOf((cursor) =>
    answerOf(waybill.GET('/v1/subscribers', { params: { query: { limit: 500, ...cursor } } })),
  );
  for await (const subscriber of list) present.push(subscriber);
  const steps = planOf(wanted, present, {
    prune: options.prune === true,
    putSecrets: options.putSecrets === true,
  });
  const problems: string[] = [];
  for (const step of steps) {
    const done = options.dryRun ? { applied: false, problem: null } : await carryOut(waybill, step);
    const { body: _, hasSecret: __, ...told } = step;
    const result: Applied = { ...told, ...done };
    if (done.problem !== null) problems.push(step.id);
    output.one(result, () => show(output, result));
  }
  const refused = new Set(problems);
  summarize(
    output,
    steps.filter(({ id }) => !refused.has(id)),
    options,
  );
  if (problems.length > 0)
    throw new CommandError('data', `${problems.length} not changed: ${problems.join(', ')}`);
  if (options.dryRun && options.exitCode && steps.some(isChange)) throw new AnswerIsNo();
}

function read(path: string, env: Io['env']): Wanted[] {
  try {
    return readSubscribers(path, env);
  } catch (error) {
    if (error instanceof FileFaults) throw new CommandError('data', error.message, { cause: error });
    throw error;
  }
}

const isChange = ({ action }: Step): boolean => action !== 'unchanged' && action !== 'left';

async function carryOut(
  waybill: Context['waybill'],
  { id, action, body }: Step,
): Promise<Pick<Applied, 'applied' | 'problem' | 'secret'>> {
  const params = { path: { id } };
  try {
    if (action === 'delete') await waybill.DELETE('/v1/subscribers/{id}', { params });
    if (body === null) return { applied: action === 'delete', problem: null };
    const input = body as unknown as Schemas['SubscriberInput'];
    const { secret } = await answerOf(waybill.PUT('/v1/subscribers/{id}', { params, body: input }));
    return { applied: true, problem: null, ...(secret === undefined ? {} : { secret }) };
  } catch (error) {
    // What stands against one subscriber does not stand against the next.
    if (!(error instanceof ApiError) || ![404, 409, 413, 422].includes(error.status)) throw error;
    return { applied: false, problem: error.message };
  }
}

const SIGNS: Readonly<Record<Step['action'], string>> = {
  create: '+',
  update: '~',
  delete: '-',
  unchanged: '=',
  left: '?',
};

function show(output: Context['output'], { id, action, changes, problem, secret }: Applied): void {
  const paint = { create: output.good, update: output.doubtful, delete: output.bad }[action as string];
  const line = `${SIGNS[action]} ${id}${action === 'left' ? ' (no file describes it)' : ''}`;
  output.line(paint ? paint.call(output, line) : output.dim(line));
  for (const change of changes) output.line(`    ${changeInWords(change)}`);
  if (problem !== null) output.line(output.bad(`    ${problem.replaceAll('\n', '\n    ')}`));
  if (secret !== undefined) output.line(`    signing secret, not shown again: ${secret}`);
}

function changeInWords({ path, before, after }: Change): string {
  const show = (value: unknown) => (value === undefined ? 'nothing' : visible(JSON.stringify(value)));
  return before === undefined ? `${path}: ${show(after)}` : `${path}: ${show(before)} -> ${show(after)}`;
}

function summarize(output: Context['output'], steps: readonly Step[], { dryRun, prune }: ApplyOptions): void {
  const count = (action: Step['action']) => steps.filter((step) => step.action === action).length;
  const parts = (['create', 'update', 'delete', 'unchanged'] as const).map(
    (action) => `${count(action)} ${action}`,
  );
  output.note(`${parts.join(', ')}${dryRun ? '; nothing was changed (--dry-run)' : ''}`);
  if (count('left') > 0 && !prune)
    output.note(`${count('left')} that no file describes stay: --prune removes them`);
  if (steps.some(({ action, hasSecret }) => action === 'unchanged' && hasSecret))
    output.note(
      'Stored secrets cannot be compared with those of the files: --put-secrets puts them in any case.',
    );
}
