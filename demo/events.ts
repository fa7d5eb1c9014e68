import type { StatusEvent } from '@waybill/shared/contracts/status-event';

/** A sample shipment before it has a number. */
interface Journey {
  /** For people; the attribute of this name is for filters. */
  readonly description: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** RFC 3339, the instant of the first status. */
  readonly startedAt: string;
  readonly steps: readonly Step[];
}

interface Step {
  readonly status: 'in_transit' | 'customs_hold' | 'exception' | 'delivered';
  /** Since the journey began. */
  readonly afterHours: number;
  readonly place: string;
  readonly note?: string;
}

const JOURNEYS: readonly Journey[] = [
  {
    description: 'Insulin glargine 100 U/ml, 40 vials',
    attributes: { goods: 'insulin', region: 'eu', temperatureClass: 'refrigerated' },
    startedAt: '2026-05-04T03:02:01Z',
    steps: [
      { status: 'in_transit', afterHours: 0, place: 'Basel' },
      { status: 'customs_hold', afterHours: 5, place: 'Irun', note: 'import licence is being checked' },
      { status: 'in_transit', afterHours: 9, place: 'Irun' },
      { status: 'delivered', afterHours: 26, place: 'Porto' },
    ],
  },
  {
    description: 'mRNA vaccine, 1170 doses',
    attributes: { goods: 'mrna-vaccine', region: 'eu', temperatureClass: 'frozen' },
    startedAt: '2026-05-04T05:40:00Z',
    steps: [
      { status: 'in_transit', afterHours: 0, place: 'Mainz' },
      {
        status: 'exception',
        afterHours: 11,
        place: 'Riga',
        note: 'logger read -58 °C for 4 min, limit -60 °C',
      },
      { status: 'in_transit', afterHours: 13, place: 'Riga', note: 'released by quality assurance' },
      { status: 'delivered', afterHours: 22, place: 'Tallinn' },
    ],
  },
  {
    description: 'Blood samples, 24 tubes',
    attributes: { goods: 'blood-samples', region: 'uk', temperatureClass: 'refrigerated' },
    startedAt: '2026-05-04T06:15:30Z',
    steps: [
      { status: 'in_transit', afterHours: 0, place: 'Inverness' },
      { status: 'customs_hold', afterHours: 7, place: 'Larne', note: 'declaration is incomplete' },
      { status: 'delivered', afterHours: 15, place: 'Belfast' },
    ],
  },
  {
    description: 'CAR-T cell product, 1 bag',
    attributes: { goods: 'car-t-cells', region: 'us', temperatureClass: 'cryogenic' },
    startedAt: '2026-05-04T07:00:00Z',
    steps: [
      { status: 'in_transit', afterHours: 0, place: 'Philadelphia' },
      { status: 'exception', afterHours: 3, place: 'Denver', note: 'flight cancelled, rebooked' },
      { status: 'delivered', afterHours: 14, place: 'Seattle' },
    ],
  },
  {
    description: 'Factor VIII concentrate, 12 vials',
    attributes: { goods: 'factor-viii', region: 'latam', temperatureClass: 'refrigerated' },
    startedAt: '2026-05-04T08:30:00Z',
    steps: [
      { status: 'in_transit', afterHours: 0, place: 'São Paulo' },
      { status: 'customs_hold', afterHours: 8, place: 'Montevideo', note: 'sample taken for inspection' },
      {
        status: 'exception',
        afterHours: 20,
        place: 'Montevideo',
        note: 'outer carton damaged, content intact',
      },
      { status: 'delivered', afterHours: 30, place: 'Paysandú' },
    ],
  },
];

const HOUR_MS = 3_600_000;

export const SHIPMENTS = JOURNEYS.length;

/** Such as `SHP-2026-0001`. */
export function shipmentIdOf(number: number): string {
  return `SHP-2026-${String(number).padStart(4, '0')}`;
}

/**
 * The sample events in the order in which they are posted: the first status of every shipment, then the second of
 * every one. The same numbers give the same content, so posting them again is a duplicate and never a conflict.
 *
 * @param firstNumber number of the first shipment; the others follow.
 */
export function sampleEvents(firstNumber: number): StatusEvent[] {
  const longest = Math.max(...JOURNEYS.map(({ steps }) => steps.length));
  return Array.from({ length: longest }, (_, index) =>
    JOURNEYS.flatMap(({ description, attributes, startedAt, steps }, shipment): StatusEvent[] => {
      const step = steps[index];
      if (!step) return [];
      const { status, afterHours, place, note } = step;
      return [
        {
          shipmentId: shipmentIdOf(firstNumber + shipment),
          eventVersion: index + 1,
          status,
          occurredAt: new Date(Date.parse(startedAt) + afterHours * HOUR_MS).toISOString(),
          attributes: { ...attributes },
          data: { description, place, ...(note === undefined ? {} : { note }) },
        },
      ];
    }),
  ).flat();
}
