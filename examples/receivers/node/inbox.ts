import { DatabaseSync } from 'node:sqlite';

export interface Received {
  /** `webhook-id`. The same on every attempt and every replay of a delivery. */
  key: string;
  /** `Waybill-Sequence`; null if the subscriber was not set to get it. */
  sequence: number | null;
  shipmentId: string;
  eventVersion: number;
  status: string;
  /** `Waybill-Previous-Version`; null for the first version of this shipment that was meant for us. */
  previousVersion: number | null;
  body: string;
}

/** Something that was meant for us and is not here. It may still be on its way: a delivery that failed is tried again. */
export type Hole =
  | { sequence: { first: number; last: number } }
  | { shipmentId: string; eventVersion: number };

/** What was received, on disk. */
export class Inbox {
  readonly #database: DatabaseSync;

  /** @param file a SQLite database; made if it is not there. */
  constructor(file: string) {
    this.#database = new DatabaseSync(file, { timeout: 2_000 });
    // FULL: a commit has returned only when it survives a loss of power.
    this.#database.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      CREATE TABLE IF NOT EXISTS inbox (
        key TEXT PRIMARY KEY,
        sequence INTEGER,
        shipment_id TEXT NOT NULL,
        version INTEGER NOT NULL,
        previous INTEGER,
        body TEXT NOT NULL,
        received_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
      );
      CREATE INDEX IF NOT EXISTS inbox_version ON inbox (shipment_id, version);
      CREATE INDEX IF NOT EXISTS inbox_sequence ON inbox (sequence);
      CREATE TABLE IF NOT EXISTS shipments (id TEXT PRIMARY KEY, version INTEGER NOT NULL, status TEXT NOT NULL);
    `);
  }

  /**
   * Keeps a message and what follows from it, both or neither.
   *
   * @returns false if it was there already: nothing was changed.
   * @throws if it could not be written; then it must not be answered with 2xx.
   */
  keep({ key, sequence, shipmentId, eventVersion, status, previousVersion, body }: Received): boolean {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      const { changes } = this.#database
        .prepare(
          `INSERT INTO inbox (key, sequence, shipment_id, version, previous, body) VALUES (?, ?, ?, ?, ?, ?)
           ON CONFLICT (key) DO NOTHING`,
        )
        .run(key, sequence, shipmentId, eventVersion, previousVersion, body);
      // Versions may come in any order: an older one does not undo a newer one.
      if (changes === 1) {
        this.#database
          .prepare(
            `INSERT INTO shipments (id, version, status) VALUES (?, ?, ?)
             ON CONFLICT (id) DO UPDATE SET version = excluded.version, status = excluded.status
             WHERE excluded.version > version`,
          )
          .run(shipmentId, eventVersion, status);
      }
      this.#database.exec('COMMIT');
      return changes === 1;
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  /** Numbers that are missing below the highest, and versions that a later one names as the one before it. */
  holes(): Hole[] {
    const sequences = this.#database
      .prepare(
        `SELECT before + 1 AS first, sequence - 1 AS last
         FROM (SELECT sequence, LAG(sequence, 1, 0) OVER (ORDER BY sequence) AS before
               FROM inbox WHERE sequence IS NOT NULL)
         WHERE sequence > before + 1`,
      )
      .all() as unknown as { first: number; last: number }[];
    const versions = this.#database
      .prepare(
        `SELECT shipment_id AS shipmentId, previous AS eventVersion FROM inbox AS later
         WHERE previous IS NOT NULL AND NOT EXISTS
           (SELECT 1 FROM inbox WHERE shipment_id = later.shipment_id AND version = later.previous)`,
      )
      .all() as unknown as { shipmentId: string; eventVersion: number }[];
    return [
      ...sequences.map(({ first, last }) => ({ sequence: { first, last } })),
      ...versions.map(({ shipmentId, eventVersion }) => ({ shipmentId, eventVersion })),
    ];
  }
}
