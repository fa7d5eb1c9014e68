import { basename } from 'node:path';
import { type HeldProcess, startHeldProcess } from '@waybill/infra/engines/held-process';

const RUN_MS = 60_000;

interface ProgramOptions {
  /** Added to this process's environment. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly input?: string;
  readonly withinMs?: number;
}

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Something that is no part of Waybill, run as its users run it. */
export interface Program extends AsyncDisposable {
  readonly output: { readonly stdout: string; readonly stderr: string };
  readonly ended: Promise<Ended>;
  /** SIGKILL, to it and what it started. */
  kill(): Promise<void>;
}

/** Starts it. SIGTERM ends it with this. */
export async function startProgram(
  command: readonly string[],
  { env = {}, cwd, input = '' }: ProgramOptions = {},
): Promise<Program> {
  const [program = '', ...args] = command;
  const held: HeldProcess = await startHeldProcess(program, args, {
    env: { ...process.env, ...env },
    cwd,
    stdio: ['pipe', 'pipe', 'pipe'],
    graceMs: 0,
  });
  const output = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    held.child[stream]?.setEncoding('utf8').on('data', (text: string) => {
      output[stream] += text;
    });
  }
  // One that ends without reading all of it says so by its status.
  held.child.stdin?.on('error', () => {}).end(input);
  return {
    output,
    ended: held.ended.then(({ code }) => ({ code, ...output })),
    kill: async () => void (await held.stop(0)),
    [Symbol.asyncDispose]: async () => void (await held.stop(5_000)),
  };
}

/** Runs it to its end, which may be any. */
export async function runProgram(
  command: readonly string[],
  { withinMs = RUN_MS, ...options }: ProgramOptions = {},
): Promise<Ended> {
  await using program = await startProgram(command, options);
  const late = setTimeout(() => void program.kill(), withinMs);
  const ended = await program.ended;
  clearTimeout(late);
  return ended;
}

/** Runs it to its end. @throws with what it said when it fails. */
export async function runToSuccess(command: readonly string[], options?: ProgramOptions): Promise<string> {
  const { code, stdout, stderr } = await runProgram(command, options);
  if (code === 0) return stdout;
  const name = command.map((word) => basename(word)).join(' ');
  throw new Error(`${name} ended with ${code ?? 'a signal'}: ${stderr.trim() || stdout.trim()}`);
}
