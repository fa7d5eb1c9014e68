import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Installation } from './cache.ts';
import { requireSha256 } from './checksum.ts';
import { type EnginePlace, type RunningEngine, runEngine } from './engine-process.ts';
import { type JavaProgram, javaCommand } from './java.ts';
import { copyArtifact, type Maven } from './maven.ts';
import { REGISTRY } from './pins.ts';
import { pollUntil } from './poll.ts';
import { withFreePorts } from './ports.ts';
import { runCommand } from './run-command.ts';

const TITLE = `Apicurio registry ${REGISTRY.version}`;
const LISTENING = 'Listening on: ';
const READY_POLL_MS = 50;
const UNPACK_TIMEOUT_MS = 2 * 60_000;

export const registryInstallationName = `registry-${REGISTRY.version}`;

export function registryInstallation(maven: Maven): Installation {
  return {
    name: registryInstallationName,
    title: TITLE,
    megabytes: REGISTRY.megabytes,
    async fill(directory) {
      const download = join(directory, 'download');
      await copyArtifact(maven, REGISTRY.coordinate, download);
      const archive = join(download, REGISTRY.archive);
      await requireSha256(archive, REGISTRY.sha256);
      const options = { env: maven.env, timeoutMs: UNPACK_TIMEOUT_MS, signal: maven.signal };
      await runCommand('tar', ['-xzf', archive, '-C', directory], options);
      await rm(download, { recursive: true });
    },
  };
}

/** Starts the registry on a database file; resolves with the address of its Confluent API once that answers. */
export function startRegistry(
  { installation, javaHome, flags }: JavaProgram,
  place: EnginePlace,
): Promise<{ url: string; engine: RunningEngine }> {
  return withFreePorts(2, async ([port, managementPort]) => {
    const url = registryUrl(Number(port));
    const temporary = join(place.directory, 'tmp');
    await mkdir(temporary, { recursive: true });
    const settings = {
      'java.io.tmpdir': temporary,
      'quarkus.http.host': '127.0.0.1',
      'quarkus.http.port': port,
      'quarkus.management.host': '127.0.0.1',
      'quarkus.management.port': managementPort,
      'quarkus.http.access-log.enabled': false,
      'apicurio.storage.kind': 'sql',
      'apicurio.storage.sql.kind': 'h2',
      'apicurio.datasource.url': `jdbc:h2:file:${join(place.directory, 'registry')}`,
      // One launcher's few clients need no pool of 20 connections, each opened before the first request.
      'apicurio.datasource.jdbc.initial-size': 2,
      'apicurio.datasource.jdbc.min-size': 2,
    };
    const engine = await runEngine(
      {
        title: TITLE,
        command: javaCommand(javaHome),
        args: [
          ...flags,
          ...['-Xmx384m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-XX:-UsePerfData'],
          ...Object.entries(settings).map(([name, value]) => `-D${name}=${value}`),
          ...['-jar', join(installation, 'quarkus-run.jar')],
        ],
        async untilReady(log, signal) {
          // Its own word: whoever listens on the port could be another's.
          await pollUntil(async () => (await log()).includes(LISTENING), READY_POLL_MS, signal);
          await pollUntil(() => registryAnswers(url), READY_POLL_MS, signal);
        },
      },
      place,
    );
    return { url, engine };
  });
}

export function registryUrl(port: number): string {
  return `http://127.0.0.1:${port}/apis/ccompat/v7`;
}

/** Whether the Confluent API at that address answers a question that its storage has to answer. */
export async function registryAnswers(url: string): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/subjects`, { signal: AbortSignal.timeout(2000) });
    await answer.body?.cancel();
    return answer.ok;
  } catch {
    return false;
  }
}
