import type { DeliveryRow } from '@waybill/shared/stores/deliveries';
import type { Snapshot, Violation } from '../snapshot.ts';
import { versionsOf } from './configurations.ts';

/** How a receiver sees a hole: running numbers without a gap, and versions of a shipment that name the one before. */
export function brokenNumbers(snapshot: Snapshot): Violation[] {
  const { deliveries } = snapshot;
  return [...brokenSequences(snapshot), ...brokenChains(deliveries), ...brokenHeaders(snapshot)];
}

function brokenSequences(snapshot: Snapshot): Violation[] {
  const found: Violation[] = [];
  const versions = versionsOf(snapshot);
  for (const [id, rows] of Map.groupBy(snapshot.deliveries, (row) => row.subscriberId)) {
    const numbers = rows.flatMap((row) => row.sequence ?? []).sort((a, b) => a - b);
    const lowest = numbers[0] ?? 1;
    const wanted = numbers.map((_, index) => lowest + index);
    if (String(numbers) !== String(wanted)) {
      found.push({ rule: 'running numbers have no gap', id, detail: `they are ${numbers.join(', ')}` });
    }
    const always = (versions.get(id) ?? []).every(
      ({ version, delivery }) => version === 1 && delivery.sequence,
    );
    if (always && versions.has(id) && numbers.length < rows.length) {
      const detail = `${rows.length - numbers.length} of ${rows.length} rows have none`;
      found.push({ rule: 'numbered subscribers get numbers', id, detail });
    }
  }
  return found;
}

/** Of a shipment's versions for one subscriber, one has none before it and no two have the same one before them. */
function brokenChains(deliveries: readonly DeliveryRow[]): Violation[] {
  const found: Violation[] = [];
  const families = Map.groupBy(deliveries, (row) => `${row.subscriberId}:${row.shipmentId}`);
  for (const [id, family] of families) {
    const links = family.toSorted((a, b) => a.chain - b.chain);
    const said = links.map(({ previousVersion, eventVersion }) => `${previousVersion ?? ''}<${eventVersion}`);
    const whole = links.every(({ previousVersion }, index) =>
      // Retention may have removed the beginning.
      index === 0 ? true : previousVersion === links[index - 1]?.eventVersion,
    );
    if (!whole) found.push({ rule: 'versions are one chain', id, detail: said.join(', ') });
  }
  return found;
}

function brokenHeaders({ deliveries, requests }: Snapshot): Violation[] {
  const rows = new Map(deliveries.map((row) => [row._id, row]));
  return requests.flatMap(({ key, address, number, headers }) => {
    const row = rows.get(key ?? '');
    if (!row) return [];
    const wanted = `${row.previousVersion ?? ''}, ${row.sequence ?? 'none'}`;
    const said = `${headers['waybill-previous-version']}, ${headers['waybill-sequence'] ?? 'none'}`;
    if (said === wanted) return [];
    const detail = `previous version and number are ${said}, the row has ${wanted}`;
    return [{ rule: 'receivers are told what the row says', id: `${address} #${number}`, detail }];
  });
}
