import { createSecretKey, hash, hkdfSync, type KeyObject } from 'node:crypto';
import { keyedHash } from './keyed-hash.ts';
import type { RetentionKind } from './retention.ts';

/** Tells the key of the ledger's hashes from the key that names deliveries, which it is derived from. */
const LEDGER_KEY_PURPOSE = 'waybill/retention-ledger/v1';

/** Made once: a key object is four times as quick to use as its bytes. */
export type LedgerKey = KeyObject;

/** The key of the ledger's hashes, made from the installation's naming key for this purpose only (HKDF, RFC 5869). */
export function ledgerKeyOf(namingKey: Buffer): LedgerKey {
  return createSecretKey(Buffer.from(hkdfSync('sha256', namingKey, '', LEDGER_KEY_PURPOSE, 32)));
}

/** A record's name in the ledger: tells nothing to who does not know the record's id already. */
export function recordHash(ledgerKey: LedgerKey, kind: RetentionKind, recordId: string): string {
  return keyedHash(ledgerKey, ['record', kind, recordId]);
}

export function shipmentHash(ledgerKey: LedgerKey, shipmentId: string): string {
  return keyedHash(ledgerKey, ['shipment', shipmentId]);
}

/** One deleted record. Holds no payload and no id in clear. */
export interface LedgerEntry {
  /** Policy, policy version, cutoff and record: unique, so that a record is logged once however often a tick comes. */
  readonly operationKey: string;
  readonly kind: RetentionKind;
  readonly recordHash: string;
  /** Null for records that belong to no shipment. */
  readonly shipmentHash: string | null;
  readonly reason: 'retention' | 'erasure';
  readonly policyId: string;
  readonly policyVersion: number;
  readonly cutoff: Date;
  /** When the record reached its end: what its age was counted from. */
  readonly terminalAt: Date;
  readonly deletedAt: Date;
  /** SHA-256 of the deleted document as the database held it (BSON). */
  readonly digest: string;
  readonly runId: string;
  readonly shard: number;
  /** The page of the shard, from 1: what was deleted in one transaction. */
  readonly page: number;
  /** Place in the shard's chain, from 1, without gaps. */
  readonly seq: number;
}

export interface ChainedEntry extends LedgerEntry {
  /** The hash of the entry before. */
  readonly previous: string;
  readonly hash: string;
}

/** The last word on a shard's chain: an entry that is missing at its end shows against this. */
export interface ChainClosing {
  readonly count: number;
  readonly head: string;
  readonly at: Date;
}

/** Begins with the record, so that the index that holds it unique finds a record's entries as well. */
export function operationKey(policyId: string, version: number, cutoff: Date, record: string): string {
  return `${record}/${policyId}/${version}/${cutoff.toISOString()}`;
}

/** What a run is held to by its chains. */
export interface ChainRun {
  readonly _id: string;
  readonly policyId: string;
  readonly policyVersion: number;
  readonly cutoff: Date;
  readonly candidates: number | null;
}

/** What a chain begins with: its first entry follows this. Changes with everything that a run is held to. */
export function chainStart(run: ChainRun, shard: number): string {
  const { _id, policyId, policyVersion, cutoff, candidates } = run;
  const at = isInstant(cutoff) ? cutoff.getTime() : null;
  return sha256(JSON.stringify(['chain', _id, shard, policyId, policyVersion, at, candidates]));
}

/** The hash of an entry at its place in the chain; changes with every field. */
export function entryHash(previous: string, entry: LedgerEntry): string {
  return sha256(
    JSON.stringify([
      previous,
      entry.seq,
      entry.operationKey,
      entry.kind,
      entry.recordHash,
      entry.shipmentHash,
      entry.reason,
      entry.policyId,
      entry.policyVersion,
      entry.cutoff.getTime(),
      entry.terminalAt.getTime(),
      entry.deletedAt.getTime(),
      entry.digest,
      entry.runId,
      entry.shard,
      entry.page,
    ]),
  );
}

/** Appends entries to a chain whose last hash is `head`. */
export function chainEntries(head: string, entries: readonly LedgerEntry[]): ChainedEntry[] {
  let previous = head;
  return entries.map((entry) => {
    const chained = { ...entry, previous, hash: entryHash(previous, entry) };
    previous = chained.hash;
    return chained;
  });
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isInstant = (value: unknown): value is Date => value instanceof Date && !Number.isNaN(value.getTime());
export const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0;

/** What the fields of an entry are when nobody has altered it: whoever can write into the database may have. */
const ENTRY_FIELDS = Object.entries({
  operationKey: isText,
  kind: isText,
  recordHash: isText,
  shipmentHash: (value) => value === null || isText(value),
  reason: isText,
  policyId: isText,
  policyVersion: isCount,
  cutoff: isInstant,
  terminalAt: isInstant,
  deletedAt: isInstant,
  digest: isText,
  runId: isText,
  shard: isCount,
  page: isCount,
  seq: isCount,
  previous: isText,
  hash: isText,
} satisfies Record<keyof ChainedEntry, (value: unknown) => boolean>) as [
  keyof ChainedEntry,
  (value: unknown) => boolean,
][];

/** A field of a stored entry that holds what none does; undefined: there is none. */
function malformedField(entry: ChainedEntry): keyof ChainedEntry | undefined {
  return ENTRY_FIELDS.find(([name, is]) => !is(entry[name]))?.[0];
}

/** Whether an entry has the content that its hash was made of. */
export function isUnaltered(entry: ChainedEntry): boolean {
  return malformedField(entry) === undefined && entryHash(entry.previous, entry) === entry.hash;
}

/** Where a chain does not hold. */
export interface ChainFault {
  readonly shard: number;
  readonly seq: number;
  readonly operationKey: string | null;
  readonly fault: 'missing' | 'altered' | 'closing';
  readonly message: string;
}

/**
 * Recomputes one shard's chain, entry after entry, so that a chain of any length is checked in little memory. Give it
 * the entries in their order, then `end`.
 */
export class ChainCheck {
  readonly faults: ChainFault[] = [];
  readonly #shard: number;
  #previous: string;
  #seq = 0;
  count = 0;

  constructor(run: ChainRun, shard: number) {
    this.#shard = shard;
    this.#previous = chainStart(run, shard);
  }

  /** @param entry as it is stored, whatever became of it there. */
  next(entry: ChainedEntry): void {
    this.count += 1;
    this.#seq += 1;
    const field = malformedField(entry);
    if (field !== undefined) {
      // Its hash cannot be made. Where it stands is all that is left to name it by.
      const named = { seq: this.#seq, operationKey: isText(entry.operationKey) ? entry.operationKey : null };
      this.#fault('altered', named, `has a value of another type as its ${field}`);
      this.#previous = isText(entry.hash) ? entry.hash : '';
      return;
    }
    if (entry.seq !== this.#seq) {
      this.#missing(this.#seq, entry.seq - 1);
      this.#seq = entry.seq;
    } else if (entry.previous !== this.#previous) {
      const before =
        this.#seq === 1
          ? 'what its run says of itself: policy, version, cutoff, candidates'
          : 'the entry before it';
      this.#fault('altered', entry, `does not follow ${before}`);
    }
    if (entryHash(entry.previous, entry) !== entry.hash) {
      this.#fault('altered', entry, 'does not have the content that its hash was made of');
    }
    this.#previous = entry.hash;
  }

  /** @param closing null while the shard is still under way: then only what is there is checked. */
  end(closing: ChainClosing | null): void {
    if (!closing) return;
    if (this.#seq < closing.count) this.#missing(this.#seq + 1, closing.count);
    else if (this.#seq > closing.count || this.#previous !== closing.head) {
      const message = `the chain ends with entry ${this.#seq}, ${this.#previous}; it was closed with entry ${closing.count}, ${closing.head}`;
      this.faults.push({ shard: this.#shard, seq: this.#seq, operationKey: null, fault: 'closing', message });
    }
  }

  #missing(from: number, to: number): void {
    const message = from === to ? `entry ${from} is missing` : `entries ${from} to ${to} are missing`;
    this.faults.push({ shard: this.#shard, seq: from, operationKey: null, fault: 'missing', message });
  }

  #fault(
    fault: 'altered',
    { seq, operationKey: key }: Pick<ChainFault, 'seq' | 'operationKey'>,
    what: string,
  ): void {
    const message = `entry ${seq} ${what}`;
    this.faults.push({ shard: this.#shard, seq, operationKey: key, fault, message });
  }
}

function sha256(text: string): string {
  return hash('sha256', text, 'base64url');
}
