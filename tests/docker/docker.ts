import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, it } from 'vitest';

const run = promisify(execFile);

/** How long an engine may take to say that it is there, in milliseconds. */
const PROBE_TIMEOUT_MS = 20_000;
const COMMAND_TIMEOUT_MS = 60_000;
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/** What a client needs to find an engine. Nothing else passes: a variable of the shell wins over an env file. */
const PASSED_ON = /^(PATH|HOME|USER|TMPDIR|DOCKER_\w+|XDG_\w+|SSH_AUTH_SOCK|SSL_CERT_\w+|\w+_proxy)$/i;

function environment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => PASSED_ON.test(name)));
}

/** Runs the docker client; resolves with its output. @throws with both outputs when it fails or takes too long. */
export async function docker(args: readonly string[], timeoutMs = COMMAND_TIMEOUT_MS): Promise<string> {
  const options = { env: environment(), timeout: timeoutMs, maxBuffer: MAX_OUTPUT_BYTES };
  try {
    return (await run('docker', args, options)).stdout.trim();
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`docker ${args.join(' ')} failed:\n${stdout}\n${stderr}`, { cause: error });
  }
}

/** Non-empty lines of what the docker client says. */
export async function dockerLines(...args: string[]): Promise<string[]> {
  return (await docker(args)).split('\n').filter((line) => line !== '');
}

/** Why there is no Docker here; null if there is. */
function fault(): string | null {
  for (const args of [
    ['info', '--format', '{{.ServerVersion}}'],
    ['compose', 'version'],
  ]) {
    const options = { env: environment(), timeout: PROBE_TIMEOUT_MS, encoding: 'utf8' } as const;
    const { status, stderr, error } = spawnSync('docker', args, options);
    if (status !== 0) return error?.message ?? stderr.trim().split('\n').at(-1) ?? 'it gave no reason';
  }
  return null;
}

/**
 * A suite that needs a Docker engine. Without one it is reported as skipped and its name says why; where
 * WAYBILL_REQUIRE_DOCKER is 1, it fails instead.
 */
export function describeWithDocker(name: string, suite: () => void): void {
  const missing = fault();
  if (missing === null) {
    describe(name, suite);
  } else if (process.env.WAYBILL_REQUIRE_DOCKER === '1') {
    describe(name, () => {
      it('needs a Docker engine', () => {
        throw new Error(`WAYBILL_REQUIRE_DOCKER is 1, but there is no Docker: ${missing}`);
      });
    });
  } else {
    describe.skip(`${name} (skipped, there is no Docker: ${missing})`, suite);
  }
}
