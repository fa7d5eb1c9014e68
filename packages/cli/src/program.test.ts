import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { ApiError, UnreachableError } from '@waybill/client';
import type { Command } from 'commander';
import { describe, expect, it, vi } from 'vitest';
import { EXIT_CODES, exitCodeOf, messageOf } from './exit-codes.ts';
import { Interrupted, type Io } from './io.ts';
import { createProgram } from './program.ts';

/** What a command line prints and how it ends. */
async function run(args: readonly string[], env: Record<string, string> = {}) {
  let out = '';
  let err = '';
  const io: Io = {
    env,
    stdin: Readable.from([]),
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    watched: false,
    colours: false,
    stopping: new AbortController().signal,
  };
  try {
    await createProgram(io).parseAsync([...args], { from: 'user' });
    return { out, err, status: 0 };
  } catch (error) {
    return { out, err: err + (messageOf(error) ?? ''), status: exitCodeOf(error) };
  }
}

function leavesOf(command: Command): Command[] {
  const shown = command.commands.filter((each) => each.name() !== 'help' && each.name() !== 'complete');
  return shown.length === 0 ? [command] : shown.flatMap(leavesOf);
}

function pathOf(command: Command): string[] {
  return command.parent ? [...pathOf(command.parent), command.name()] : [];
}

const io = { out: () => {}, err: () => {} } as unknown as Io;
const commands = leavesOf(createProgram(io)).map((command) => pathOf(command));

describe('every command', () => {
  it.each(commands.map((path) => path.join(' ')))('%s says what it does, with examples', async (path) => {
    const { out, status } = await run([...path.split(' '), '--help']);
    expect(status).toBe(0);
    expect(out).toContain(`Usage: waybill ${path}`);
    expect(out).toMatch(/Examples:\n {2}\$ .*waybill/);
  });

  it.each([
    [['nonsense']],
    [[]],
    [['deliveries', '--state', 'lost']],
    [['deliveries', '--limit', '0']],
    [['deliveries', 'too', 'many']],
    [['publish']],
    [['tail', '--interval', '0s']],
    [['replay']],
    [['replay', 'some-id', '--state', 'dead']],
    [['ticks', 'fire', 'nothing']],
  ])('refuses %j with 64', async (args) => {
    const env = { WAYBILL_URL: 'http://127.0.0.1:1', WAYBILL_API_KEY: 'k' };
    const { out, err, status } = await run(args, env);
    expect([status, out]).toEqual([64, '']);
    expect(err).not.toBe('');
  });

  it.each([
    ['is not Waybill', (response: ServerResponse) => response.end('<html>Sign in</html>'), 69],
    ['has no such page', (response: ServerResponse) => response.writeHead(404).end('no'), 66],
    [
      'leads elsewhere',
      (response: ServerResponse) => response.writeHead(302, { location: '/login' }).end(),
      65,
    ],
  ])('names the address when what answers %s', async (_title, answer, expected) => {
    const server = createServer((_request, response) => answer(response));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    try {
      const { port } = server.address() as AddressInfo;
      const env = { WAYBILL_URL: `http://127.0.0.1:${port}`, WAYBILL_API_KEY: 'k' };
      const { out, err, status } = await run(['deliveries', '--json'], env);
      expect([status, out]).toEqual([expected, '']);
      expect(err).toContain('WAYBILL_URL must be the address of a scheduler');
      expect(err).not.toMatch(/^ {4}at /m);
    } finally {
      server.close();
    }
  });

  it.each([[''], ['.'], ['..']])('does not take %j for an id', async (id) => {
    const env = { WAYBILL_URL: 'http://127.0.0.1:1', WAYBILL_API_KEY: 'k' };
    const { err, status } = await run(['delivery', id], env);
    expect([status, err]).toEqual([65, expect.stringContaining('id must not be')]);
  });

  it('says what is not configured, with 78', async () => {
    const { err, status } = await run(['deliveries']);
    expect(status).toBe(78);
    expect(err).toContain('WAYBILL_URL is not set');
    expect(err).toContain('WAYBILL_API_KEY is not set');
  });

  it('says that nobody answers, with 69', async () => {
    const env = { WAYBILL_URL: 'http://127.0.0.1:1', WAYBILL_API_KEY: 'the-secret-of-a-key' };
    const { err, status } = await run(['deliveries'], env);
    expect(status).toBe(69);
    expect(err).toContain('http://127.0.0.1:1 does not answer');
    expect(err).not.toContain('the-secret-of-a-key');
  });
});

describe('exit codes', () => {
  const request = new Request('http://x/v1');
  const answered = (status: number) => new ApiError(request, new Response(null, { status }), {});

  it.each([
    [400, 65],
    [401, 77],
    [403, 77],
    [404, 66],
    [409, 65],
    [422, 65],
    [429, 69],
    [500, 70],
    [502, 69],
    [503, 69],
  ])('of an answer of %i is %i', (status, code) => {
    expect(exitCodeOf(answered(status))).toBe(code);
  });

  it('of everything else', () => {
    expect(exitCodeOf(new UnreachableError(request, new Error('refused')))).toBe(69);
    expect(exitCodeOf(new Interrupted('SIGINT', 2))).toBe(130);
    expect(exitCodeOf(new Error('a fault of ours'))).toBe(EXIT_CODES.internal.status);
  });
});

describe('completion', () => {
  it.each([
    [['publish', '-f', ''], true],
    [['publish', '--state', 'ev'], true],
    [['subscribers', 'apply', '--file', ''], true],
    [['deliveries', '--api-key-file', 'ke'], true],
    [['deliveries', '--state', 'de'], false],
    [['subscribers', ''], false],
  ])('of %j is the name of a file: %s', async (words, expected) => {
    const said: string[] = [];
    // The library writes to the console.
    const log = vi.spyOn(console, 'log').mockImplementation((line: string) => void said.push(line));
    const { out, status } = await run(['complete', '--', ...words]);
    log.mockRestore();
    expect([status, out === ':0\n', said.length > 0]).toEqual([0, expected, !expected]);
  });
});
