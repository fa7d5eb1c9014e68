import { becomeSoleMember } from '@waybill/shared/stores/sole-member';
import { type EnginePlace, type RunningEngine, runEngine } from './engine-process.ts';
import { pollUntil } from './poll.ts';
import { withFreePorts } from './ports.ts';

export const SET_NAME = 'waybill';
const LISTENING = 'Waiting for connections';
const READY_POLL_MS = 20;
export const PRIMARY_TIMEOUT_MS = 60_000;

/** Starts a replica set of one; resolves with its connection string once it is primary. */
export function startMongodb(
  mongod: string,
  failPoints: boolean,
  place: EnginePlace,
): Promise<{ uri: string; engine: RunningEngine }> {
  return withFreePorts(1, async ([port]) => {
    const address = `127.0.0.1:${port}`;
    const engine = await runEngine(
      {
        title: 'MongoDB',
        command: mongod,
        args: [
          ...['--dbpath', place.directory, '--bind_ip', '127.0.0.1', '--port', String(port)],
          ...['--replSet', SET_NAME, '--nounixsocket', '--wiredTigerCacheSizeGB', '1'],
          // Diagnostics collected every second are for the vendor's support.
          ...['--setParameter', 'diagnosticDataCollectionEnabled=false'],
          ...(failPoints ? ['--setParameter', 'enableTestCommands=1'] : []),
        ],
        async untilReady(log, signal) {
          // Its own word: whoever listens on the port could be another's.
          await pollUntil(async () => (await log()).includes(LISTENING), READY_POLL_MS, signal);
          await becomeSoleMember(address, SET_NAME, PRIMARY_TIMEOUT_MS);
        },
      },
      place,
    );
    return { uri: connectionString(address), engine };
  });
}

export function connectionString(address: string): string {
  return `mongodb://${address}/?replicaSet=${SET_NAME}`;
}
