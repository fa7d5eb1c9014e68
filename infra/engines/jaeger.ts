import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheDirectory, findInstalled, type Installation, installed } from './cache.ts';
import { findCommand } from './command-path.ts';
import { type EnginePlace, type RunningEngine, runEngine } from './engine-process.ts';
import { JAEGER } from './pins.ts';
import { pollUntil } from './poll.ts';
import { withFreePorts } from './ports.ts';
import { runCommand } from './run-command.ts';

const TITLE = `Jaeger ${JAEGER.version}`;
/** go.mod and go.sum there pin everything it is built from. */
const MODULE_DIRECTORY = fileURLToPath(new URL('./jaeger', import.meta.url));
/** About four minutes on two cores, longer where others use them. */
const BUILD_TIMEOUT_MS = 30 * 60_000;
const READY_POLL_MS = 50;
/** Traces kept in memory; the oldest go first. */
const MAX_TRACES = 50_000;

/** When Jaeger is started: `cached` only if it was built before, `build` after building it once. */
export type JaegerWish = 'off' | 'cached' | 'build';

export interface StartedJaeger {
  /** Of the query API and the page. */
  readonly url: string;
  /** Where traces go, by OTLP over HTTP. */
  readonly otlp: string;
  stop(): Promise<void>;
}

const installationName = `jaeger-${JAEGER.version}`;

/**
 * Starts Jaeger with traces in memory. It is a convenience: where it cannot be had the answer is null, and one line of
 * progress says why.
 */
export async function startJaeger(
  wish: JaegerWish,
  env: NodeJS.ProcessEnv,
  place: EnginePlace,
): Promise<StartedJaeger | null> {
  if (wish === 'off') return null;
  try {
    const installation = await findJaeger(wish, env, place);
    return installation === null ? null : await start(join(installation, 'jaeger'), place);
  } catch (error) {
    if (place.starting.aborted) return null;
    const [reason] = (error instanceof Error ? error.message : String(error)).split('\n').slice(-1);
    place.progress(`no Jaeger: ${reason}`);
    return null;
  }
}

async function findJaeger(
  wish: JaegerWish,
  env: NodeJS.ProcessEnv,
  { progress, starting }: EnginePlace,
): Promise<string | null> {
  const cache = cacheDirectory(env);
  const present = await findInstalled(cache, installationName);
  if (present !== undefined) return present;
  if (wish === 'cached') {
    progress('no Jaeger: it is not built yet; pnpm stack --jaeger builds it once, with Go, in some minutes');
    return null;
  }
  const go = await findCommand(env, 'go');
  if (go !== undefined) return installed(cache, jaegerInstallation(go, env, starting), progress, starting);
  progress(`no Jaeger: it is built with Go (${JAEGER.go} or later), and there is no command go`);
  return null;
}

function jaegerInstallation(go: string, env: NodeJS.ProcessEnv, signal: AbortSignal): Installation {
  return {
    name: installationName,
    title: `${TITLE}, built with Go in some minutes`,
    megabytes: null,
    async fill(directory) {
      const target = join(directory, 'jaeger');
      // `readonly`: what go.sum does not name is refused.
      const args = ['build', '-mod=readonly', '-o', target, JAEGER.command];
      await runCommand(go, args, { env, cwd: MODULE_DIRECTORY, timeoutMs: BUILD_TIMEOUT_MS, signal });
    },
  };
}

function start(program: string, place: EnginePlace): Promise<StartedJaeger> {
  return withFreePorts(3, async ([query, grpc, otlp]) => {
    const url = `http://127.0.0.1:${query}`;
    const config = join(place.directory, 'config.json');
    await mkdir(place.directory, { recursive: true });
    await writeFile(config, JSON.stringify(configuration(Number(query), Number(grpc), Number(otlp))));
    const engine: RunningEngine = await runEngine(
      {
        title: TITLE,
        command: program,
        args: ['--config', config],
        untilReady: (_log, signal) => pollUntil(() => answers(url), READY_POLL_MS, signal),
      },
      place,
    );
    return { url, otlp: `http://127.0.0.1:${otlp}`, stop: () => engine.stop() };
  });
}

function configuration(query: number, grpc: number, otlp: number): object {
  const at = (port: number) => ({ endpoint: `127.0.0.1:${port}` });
  return {
    service: {
      extensions: ['jaeger_storage', 'jaeger_query'],
      pipelines: { traces: { receivers: ['otlp'], exporters: ['jaeger_storage_exporter'] } },
      telemetry: { metrics: { level: 'none' }, logs: { level: 'warn' } },
    },
    extensions: {
      jaeger_storage: { backends: { memory: { memory: { max_traces: MAX_TRACES } } } },
      jaeger_query: { storage: { traces: 'memory' }, http: at(query), grpc: at(grpc) },
    },
    receivers: { otlp: { protocols: { http: at(otlp) } } },
    exporters: { jaeger_storage_exporter: { trace_storage: 'memory' } },
  };
}

async function answers(url: string): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/api/services`, { signal: AbortSignal.timeout(2_000) });
    await answer.body?.cancel();
    return answer.ok;
  } catch {
    return false;
  }
}
