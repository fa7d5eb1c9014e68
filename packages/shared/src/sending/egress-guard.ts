import type { LookupAddress } from 'node:dns';
import { lookup as resolve } from 'node:dns/promises';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { buildConnector } from 'undici';
import { checkAddress, type EgressPolicy } from '../domain/egress-policy.ts';
import { connectFailure, SendFailure } from './send-failure.ts';

/** Every address of a host name, in the order in which they should be tried. Rejects when there is none. */
export type Lookup = (hostname: string) => Promise<readonly LookupAddress[]>;

/**
 * Asks once at a time for each name; whoever asks meanwhile gets the same answer, and nothing is kept after it.
 *
 * The system's resolver runs on the few threads of the process. Without this the connections to one host whose name
 * server is slow would hold them all, and nobody else's name would resolve.
 */
export function sharedLookup(lookup: Lookup): Lookup {
  const underway = new Map<string, Promise<readonly LookupAddress[]>>();
  return (hostname) => {
    const known = underway.get(hostname);
    if (known !== undefined) return known;
    const asked = lookup(hostname).finally(() => underway.delete(hostname));
    underway.set(hostname, asked);
    return asked;
  };
}

/** The system's resolver, with its order of addresses. */
export const systemLookup: Lookup = (hostname) => resolve(hostname, { all: true });

interface GuardOptions {
  readonly policy: EgressPolicy;
  readonly lookup: Lookup;
  /** The port connections will be made to. */
  readonly port: number;
  /** For TCP and TLS together, milliseconds. */
  readonly connectTimeoutMs: number;
  /** Trust and client certificate; undefined for the system's trust and none. */
  readonly secureContext: SecureContext | undefined;
}

/** The addresses of a host, if and only if every one of them may be connected to. */
async function resolveChecked(hostname: string, options: GuardOptions): Promise<readonly LookupAddress[]> {
  const { policy, lookup, port } = options;
  let addresses: readonly LookupAddress[];
  try {
    addresses = await lookup(hostname);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'failed';
    throw new SendFailure('dns', `the name ${hostname} did not resolve: ${code}`);
  }
  if (addresses.length === 0) throw new SendFailure('dns', `the name ${hostname} has no address`);
  for (const { address } of addresses) {
    // One forbidden address is enough: a name that mixes them is how a guard is walked around.
    const problem = checkAddress(address, hostname, port, policy);
    if (problem !== null) throw new SendFailure('egress_blocked', `${hostname}: ${problem}`);
  }
  return addresses;
}

/** In the form in which `net.connect` asks, which then connects to these addresses and to no other. */
function checkedLookup(options: GuardOptions): LookupFunction {
  return (hostname, { all }, callback) => {
    resolveChecked(hostname, options).then(
      (addresses) => {
        const [first] = addresses;
        if (all === true) callback(null, [...addresses]);
        else callback(null, first?.address ?? '', first?.family);
      },
      (error: SendFailure) => callback(error, ''),
    );
  };
}

/**
 * A connector for undici that connects only where the egress policy allows, judged by the address really used, at every
 * connection. TLS 1.2 at least; certificates are verified, for the URL's host name, whatever the environment says.
 * HTTP/1.1 only. No proxy.
 *
 * The callback gets a `SendFailure` for everything that can go wrong.
 */
export function createGuardedConnector(options: GuardOptions): buildConnector.connector {
  const { policy, port, connectTimeoutMs, secureContext } = options;
  // undici's types hide that a built connector returns its socket.
  const connect = buildConnector({
    allowH2: false,
    autoSelectFamily: true,
    lookup: checkedLookup(options),
    minVersion: 'TLSv1.2',
    rejectUnauthorized: true,
    // undici's own timers are off by up to half a second.
    timeout: 0,
    ...(secureContext === undefined ? {} : { secureContext }),
  }) as (...parameters: Parameters<buildConnector.connector>) => Socket;

  return (target, callback) => {
    // net.connect looks nothing up for a literal address, so it is judged here.
    const problem =
      isIP(target.hostname) === 0 ? null : checkAddress(target.hostname, target.hostname, port, policy);
    if (problem !== null) {
      // Later, as with every other failure: undici does not expect an answer while it asks.
      process.nextTick(callback, new SendFailure('egress_blocked', problem), null);
      return;
    }
    let connecting = true;
    let tcpConnected = false;
    const socket = connect(target, (...result) => {
      connecting = false;
      clearTimeout(timer);
      if (result[0] === null) callback(...result);
      else callback(connectFailure(result[0], tcpConnected), null);
    });
    socket.once('connect', () => {
      tcpConnected = true;
    });
    const onTimeout = () => {
      if (!connecting) return;
      const stage = tcpConnected ? 'TLS handshake' : 'TCP connection';
      const detail = `${stage} not finished within ${connectTimeoutMs} ms`;
      socket.destroy(new SendFailure('connect_timeout', detail));
    };
    // After a stall of the process timers run before sockets are looked at: what has happened by then counts.
    const timer = setTimeout(() => setImmediate(onTimeout), connectTimeoutMs);
  };
}
