/**
 * Where deliveries may go: public https, and what the operator lets through besides.
 *
 * Pure: no name is resolved here. `checkUrl` judges what a URL says; `checkAddress` judges an address a connection is
 * about to be made to, and is the one that protects, because a name can resolve to anything at any time.
 * Ranges: the IANA special-purpose address registries (RFC 6890), by way of ipaddr.js.
 */

import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = [Address, number];

type Allowed =
  /** `port` null: any port. */
  | { readonly kind: 'name'; readonly name: string; readonly port: number | null }
  | { readonly kind: 'range'; readonly range: Range; readonly port: number | null };

export interface EgressPolicy {
  readonly allowed: readonly Allowed[];
}

/** Entries as in `WAYBILL_EGRESS_ALLOW`: `[IPv6 or CIDR]`, with an optional port, or anything else with an optional port. */
const ENTRY = /^(?:\[(?<bracketed>[^\]]+)\]|(?<plain>[^:]+))(?::(?<port>\d{1,5}))?$/;
const HOST_NAME =
  /^(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Clouds serve credentials to whoever asks at these addresses; the other such addresses lie in refused ranges. */
const METADATA: Range = ipaddr.parseCIDR('168.63.129.16/32');
/** All public IPv6 lies in here; the rest is special (IPv4-compatible addresses, for one) or not assigned. */
const GLOBAL_UNICAST: Range = ipaddr.parseCIDR('2000::/3');

function lowerWithoutDot(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}

function unbracket(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

/** An address in its ordinary spelling; the odd ones (`127.1`, `0x7f.1`) are the URL parser's to rewrite. */
function parseAddress(text: string): Address | null {
  const plain = ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text);
  return plain ? ipaddr.parse(text) : null;
}

function inRange(address: Address, [network, prefix]: Range): boolean {
  return address.kind() === network.kind() && address.match(network, prefix);
}

function parseRange(text: string): Range | null {
  const address = parseAddress(text);
  if (address !== null) return [address, address.kind() === 'ipv4' ? 32 : 128];
  const plain = ipaddr.IPv4.isValidCIDRFourPartDecimal(text) || ipaddr.IPv6.isValidCIDR(text);
  return plain ? ipaddr.parseCIDR(text) : null;
}

function parseEntry(entry: string): Allowed | null {
  // An IPv6 address outside brackets is all colons: no port can follow it.
  const bare = parseRange(entry);
  if (bare !== null) return { kind: 'range', range: bare, port: null };

  const { bracketed, plain = '', port: digits } = ENTRY.exec(entry)?.groups ?? {};
  const port = digits === undefined ? null : Number(digits);
  if (port !== null && (port < 1 || port > 65_535)) return null;
  const range = parseRange(bracketed ?? plain);
  if (range !== null) return { kind: 'range', range, port };
  const name = lowerWithoutDot(plain);
  return bracketed === undefined && HOST_NAME.test(name) ? { kind: 'name', name, port } : null;
}

/**
 * Reads a comma-separated list of host names, IP addresses and CIDR ranges, each with an optional `:port`; IPv6 stands
 * in brackets when it has one (`[fd00::/8]:8080`). Without a port an entry allows every port. Names match exactly, not
 * their subdomains. An empty text allows nothing besides public https.
 *
 * @throws Error whose message names every entry that cannot be read
 */
export function parseEgressPolicy(text: string): EgressPolicy {
  const entries = text.split(',').flatMap((entry) => entry.trim() || []);
  const bad = entries.filter((entry) => parseEntry(entry) === null);
  if (bad.length > 0) {
    const named = bad.map((entry) => `"${entry}"`).join(', ');
    throw new Error(`must be hosts, addresses or CIDR ranges, each with an optional port; ${named} is not`);
  }
  return { allowed: entries.flatMap((entry) => parseEntry(entry) ?? []) };
}

function allowsName(hostname: string, port: number, policy: EgressPolicy): boolean {
  const name = lowerWithoutDot(hostname);
  return policy.allowed.some(
    (entry) => entry.kind === 'name' && entry.name === name && (entry.port ?? port) === port,
  );
}

function allowsAddress(address: Address, port: number, policy: EgressPolicy): boolean {
  return policy.allowed.some(
    (entry) => entry.kind === 'range' && (entry.port ?? port) === port && inRange(address, entry.range),
  );
}

/** What kind of special address it is, null for plain public unicast. Whatever is not known to be public is special. */
function specialRange(address: Address): string | null {
  const range = address.range();
  if (range !== 'unicast') return range;
  if (inRange(address, METADATA)) return 'metadata';
  return address.kind() === 'ipv4' || inRange(address, GLOBAL_UNICAST) ? null : 'reserved';
}

/**
 * Judges the address a connection is about to be made to. Null when it may be made, else why not.
 *
 * An allow-list entry matches the address as it is: IPv4 inside IPv6 does not match an IPv4 entry. A host allowed by
 * name is allowed wherever it resolves to: the operator vouches for that name.
 *
 * @param hostname the host as the URL has it, brackets and all
 * @param port the port really used, never 0
 */
export function checkAddress(
  address: string,
  hostname: string,
  port: number,
  policy: EgressPolicy,
): string | null {
  if (allowsName(hostname, port, policy)) return null;
  const parsed = parseAddress(address);
  if (parsed === null) return 'is not an IP address';
  if (allowsAddress(parsed, port, policy)) return null;
  const special = specialRange(parsed);
  return special === null ? null : `${address} is not a public address (${special})`;
}

/** `localhost` and all names below it are loopback by definition (RFC 6761), whatever a resolver says. */
function isLoopbackName(hostname: string): boolean {
  return /(?:^|\.)localhost$/.test(lowerWithoutDot(hostname));
}

/** The port a request to this URL goes to. */
export function effectivePort(url: URL): number {
  return url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
}

/**
 * Judges a subscriber's URL when it is configured. Null when it is acceptable, else why not, in words that may be shown
 * (they hold nothing of the URL but its host).
 *
 * A host name other than localhost passes: what it resolves to is known only when a connection is made. Addresses are
 * judged after WHATWG URL parsing, so in every spelling that a client would accept.
 */
export function checkUrl(url: string, policy: EgressPolicy): string | null {
  const parsed = URL.parse(url);
  if (parsed === null) return 'is not a valid URL';
  if (parsed.protocol !== 'https:' && parsed.protocol !== 'http:') return 'must be https';
  if (parsed.username !== '' || parsed.password !== '') return 'must not hold credentials';
  // An empty fragment leaves no trace in `hash`.
  if (parsed.href.includes('#')) return 'must not have a fragment';
  const port = effectivePort(parsed);
  if (port === 0) return 'must not use port 0';

  const { hostname } = parsed;
  const address = parseAddress(unbracket(hostname));
  const allowed =
    allowsName(hostname, port, policy) || (address !== null && allowsAddress(address, port, policy));
  if (allowed) return null;
  if (parsed.protocol === 'http:')
    return 'must be https: plain http is only for hosts on the egress allow list';
  if (isLoopbackName(hostname)) return `${hostname} is not a public host (loopback)`;
  return address === null ? null : checkAddress(unbracket(hostname), hostname, port, policy);
}
