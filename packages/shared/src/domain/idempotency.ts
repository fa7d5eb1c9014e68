import { createHash, createSecretKey, type KeyObject } from 'node:crypto';
import stringify from 'safe-stable-stringify';
import type { DeliveryIdentity } from './delivery.ts';
import { keyedHash } from './keyed-hash.ts';
import { rawNumberOf } from './raw-number.ts';

/**
 * The delivery's name on every attempt, replays included: its row id, its `Idempotency-Key` and its
 * `webhook-id`. Derived from shipment, subscriber and version alone, by a keyed hash, so that it
 * carries no shipment id in clear (Standard Webhooks: no dot, no personal identifier).
 *
 * @param secret the installation's naming key; losing it gives later deliveries other names.
 * @returns `dlv_` and 32 characters of base64url (192 bits).
 */
export function deliveryKey(
  secret: Buffer,
  { shipmentId, subscriberId, eventVersion }: DeliveryIdentity,
): string {
  return `dlv_${keyedHash(keyOf(secret), [shipmentId, subscriberId, eventVersion])}`;
}

/** The CloudEvents id of an event whose producer gave none. Stable for (shipment, version). */
export function eventName(secret: Buffer, shipmentId: string, eventVersion: number): string {
  return `evt_${keyedHash(keyOf(secret), [shipmentId, eventVersion])}`;
}

/** Turning bytes into a key takes seven times as long as using it. */
const keys = new WeakMap<Buffer, KeyObject>();

function keyOf(secret: Buffer): KeyObject {
  const known = keys.get(secret);
  if (known) return known;
  const key = createSecretKey(secret);
  keys.set(secret, key);
  return key;
}

/** What makes two events of one (shipment, version) the same or a conflict. */
export interface EventContent {
  readonly status: string;
  readonly occurredAt: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly data: unknown;
}

/**
 * Digest of an event's content, independent of key order and of how `occurredAt` spells its instant.
 * Equal digests mean "the same event again", others a conflict.
 */
export function contentDigest({ status, occurredAt, attributes, data }: EventContent): string {
  const content = [status, Date.parse(occurredAt), Object.entries(attributes).sort(byName), data];
  const text = stringify(content);
  const hash = createHash('sha256').update(text);
  // A number that is kept as it was written looks there like an object that holds it. JSON has no bare line breaks.
  if (text.includes('"rawJSON"')) for (const raw of rawNumbersIn(content)) hash.update(`\n${raw}`);
  return hash.digest('base64url');
}

function rawNumbersIn(content: unknown): string[] {
  const found: string[] = [];
  stringify(content, (_key, value: unknown) => {
    const raw = rawNumberOf(value);
    if (raw !== null) found.push(raw);
    return value;
  });
  return found;
}

function byName([a]: [string, string], [b]: [string, string]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
