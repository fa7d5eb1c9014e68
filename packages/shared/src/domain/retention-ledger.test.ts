import { describe, expect, it } from 'vitest';
import {
  ChainCheck,
  type ChainedEntry,
  type ChainRun,
  chainEntries,
  chainStart,
  type LedgerEntry,
  ledgerKeyOf,
  recordHash,
  shipmentHash,
} from './retention-ledger.ts';

const RUN = 'retention.p.v1.2026-03-31T00:30:00Z';
const AT = new Date('2026-03-31T00:30:00Z');
const OF = { _id: RUN, policyId: 'p', policyVersion: 1, cutoff: AT, candidates: 5 };

const entry = (seq: number): LedgerEntry => ({
  operationKey: `p/1/${seq}`,
  kind: 'deliveries',
  recordHash: `record-${seq}`,
  shipmentHash: null,
  reason: 'retention',
  policyId: 'p',
  policyVersion: 1,
  cutoff: AT,
  terminalAt: new Date(seq),
  deletedAt: AT,
  digest: 'digest',
  runId: RUN,
  shard: 0,
  page: 1,
  seq,
});
const chain = () => chainEntries(chainStart(OF, 0), [1, 2, 3, 4, 5].map(entry));
const closing = { count: 5, head: chain().at(-1)?.hash ?? '', at: AT };

function faultsOf(
  entries: readonly ChainedEntry[],
  end: typeof closing | null = closing,
  run: ChainRun = OF,
) {
  const check = new ChainCheck(run, 0);
  for (const each of entries) check.next(each);
  check.end(end);
  return check.faults.map(({ fault, seq }) => [fault, seq]);
}

describe('the chain of a ledger', () => {
  it('holds as it was made, page by page or at once', () => {
    const [one, two, ...rest] = [1, 2, 3, 4, 5].map(entry);
    const first = chainEntries(chainStart(OF, 0), [one, two] as LedgerEntry[]);
    const second = chainEntries(first.at(-1)?.hash ?? '', rest);
    expect([...first, ...second]).toEqual(chain());
    expect(faultsOf(chain())).toEqual([]);
  });

  it('shows a removed entry wherever it was', () => {
    const without = (seq: number) => chain().filter((each) => each.seq !== seq);
    expect([1, 3, 5].map((seq) => faultsOf(without(seq)))).toEqual([
      [['missing', 1]],
      [['missing', 3]],
      [['missing', 5]],
    ]);
  });

  it.each(Object.keys(entry(3)).filter((field) => field !== 'seq'))(
    'shows an entry whose %s was altered',
    (field) => {
      const altered = chain().map((each) =>
        each.seq === 3
          ? { ...each, [field]: each[field as keyof LedgerEntry] instanceof Date ? new Date(9) : 'other' }
          : each,
      );
      expect(faultsOf(altered)).toEqual([['altered', 3]]);
    },
  );

  it.each(
    (Object.keys(entry(3)) as (keyof LedgerEntry)[]).flatMap((field) =>
      [7.5, '2026-03-31T00:30:00Z', {}, undefined, new Date(Number.NaN), 10n, null].map(
        (value) => [field, value] as const,
      ),
    ),
  )('names an entry whose %s is %s, and throws nothing', (field, value) => {
    const altered = chain().map((each) => (each.seq === 3 ? { ...each, [field]: value } : each));
    const same = value === entry(3)[field];
    expect(faultsOf(altered)).toEqual(same ? [] : [['altered', 3]]);
  });

  it('shows an entry that was altered and hashed again by the one after it, or by the closing', () => {
    const redone = (seq: number) => {
      const entries = chain();
      const before = entries[seq - 2];
      const [changed] = chainEntries(before?.hash ?? '', [{ ...entry(seq), digest: 'other' }]);
      return entries.map((each) => (each.seq === seq && changed ? changed : each));
    };
    expect([faultsOf(redone(3)), faultsOf(redone(5))]).toEqual([[['altered', 4]], [['closing', 5]]]);
  });

  it.each([
    { policyId: 'q' },
    { policyVersion: 2 },
    { cutoff: new Date(9) },
    { cutoff: 'never' as unknown as Date },
    { candidates: 6 },
    { candidates: null },
  ])('does not hold for a run that says %j', (changed) => {
    const nothing = { count: 0, head: chainStart(OF, 0), at: AT };
    const altered = { ...OF, ...changed };
    expect(faultsOf(chain(), closing, altered)).toEqual([['altered', 1]]);
    expect(faultsOf([], nothing, altered)).toEqual([['closing', 0]]);
    expect(faultsOf([], nothing)).toEqual([]);
  });

  it('of a shard that is under way has no end to be compared with', () => {
    expect(faultsOf(chain().slice(0, 3), null)).toEqual([]);
  });
});

describe('the hashes of a ledger', () => {
  const naming = Buffer.alloc(32, 1);
  const key = ledgerKeyOf(naming);

  it('come from a key of their own', () => {
    expect(key.export().equals(naming)).toBe(false);
    expect(ledgerKeyOf(Buffer.alloc(32, 2)).equals(key)).toBe(false);
  });

  it('tell kinds, records and shipments apart', () => {
    const hashes = [
      recordHash(key, 'deliveries', 'a'),
      recordHash(key, 'events', 'a'),
      shipmentHash(key, 'a'),
      recordHash(key, 'events', 'b'),
    ];
    expect(new Set(hashes).size).toBe(4);
  });
});
