import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../packages/cli/src/main.ts', import.meta.url));

/** The command line as people run it: a process of its own, seen from outside. */
export interface Running {
  readonly child: ChildProcessWithoutNullStreams;
  /** All that it wrote so far. */
  readonly output: { out: string; err: string };
  readonly ended: Promise<Ended>;
}

export interface Ended {
  /** Its exit code; null when a signal ended it. */
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
  /** What it wrote as JSON, line by line. */
  json<Item>(): Item[];
}

/** Runs `waybill` with nothing in its environment but what is given. */
export class CommandLine {
  readonly #env: Readonly<Record<string, string>>;

  constructor(env: Readonly<Record<string, string>>) {
    this.#env = env;
  }

  /** The same with more in its environment. */
  with(env: Readonly<Record<string, string>>): CommandLine {
    return new CommandLine({ ...this.#env, ...env });
  }

  start(args: readonly string[]): Running {
    const env = { PATH: process.env.PATH, ...this.#env };
    const child = spawn(process.execPath, [MAIN, ...args], { env, stdio: 'pipe' });
    const output = { out: '', err: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output.out += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output.err += text;
    });
    const ended = once(child, 'close').then(([status]): Ended => {
      const json = <Item>() =>
        output.out.split('\n').flatMap((line) => (line ? [JSON.parse(line) as Item] : []));
      return { status, ...output, json };
    });
    return { child, output, ended };
  }

  /** Runs it to its end. */
  run(args: readonly string[], stdin = ''): Promise<Ended> {
    const { child, ended } = this.start(args);
    child.stdin.end(stdin);
    return ended;
  }
}
