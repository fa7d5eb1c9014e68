import { createHash } from 'node:crypto';
import type { Collection, Db } from 'mongodb';
import type { NotSent } from '../domain/not-sent.ts';
import { insertMissing } from './duplicate-keys.ts';

/** Most entries of one row: some 120 KiB with the longest subscriber ids. */
const ENTRIES_PER_ROW = 1_000;

/** Part of who got no delivery of an event, in the order of subscriber ids, where there are too many for its row. */
export interface NotSentRow {
  /** `<list>/<number of the part>`. */
  _id: string;
  eventId: string;
  /** `<event id>/<digest of the entries>`; the event's row names the one that counts. */
  list: string;
  /** First and last subscriber id. */
  first: string;
  last: string;
  entries: readonly NotSent[];
}

/**
 * Long lists of who got no delivery. Whoever deletes an event deletes these by `eventId` (index `event`): all of them
 * are its own, also those of a fan-out that died and that its row does not name.
 */
export class NotSentStore {
  readonly #rows: Collection<NotSentRow>;

  constructor(db: Db) {
    this.#rows = db.collection('not_sent');
  }

  /**
   * Writes whole lists. A list is named after what it says, so the same one again is the same rows, and another one, by
   * a fan-out that came again after subscribers were changed, stands beside it.
   *
   * @param lists by event id, each sorted by subscriber id.
   * @returns the names of the lists by event id.
   */
  async keep(lists: ReadonlyMap<string, readonly NotSent[]>): Promise<Map<string, string>> {
    const names = new Map<string, string>();
    const rows: NotSentRow[] = [];
    for (const [eventId, entries] of lists) {
      const list = `${eventId}/${createHash('sha256').update(JSON.stringify(entries)).digest('base64url')}`;
      names.set(eventId, list);
      for (let from = 0; from < entries.length; from += ENTRIES_PER_ROW) {
        const part = entries.slice(from, from + ENTRIES_PER_ROW);
        const [first, last] = [part[0]?.subscriberId ?? '', part.at(-1)?.subscriberId ?? ''];
        rows.push({ _id: `${list}/${from / ENTRIES_PER_ROW}`, eventId, list, first, last, entries: part });
      }
    }
    await insertMissing(this.#rows, rows);
    return names;
  }

  /** What some lists say about one subscriber, by event id. One round trip. Index: `event`. */
  async about(
    subscriberId: string,
    lists: readonly { readonly eventId: string; readonly list: string }[],
  ): Promise<Map<string, NotSent>> {
    if (lists.length === 0) return new Map();
    const rows = await this.#rows
      .find(
        {
          eventId: { $in: lists.map(({ eventId }) => eventId) },
          list: { $in: lists.map(({ list }) => list) },
          first: { $lte: subscriberId },
          last: { $gte: subscriberId },
        },
        { projection: { eventId: 1, entries: { $elemMatch: { subscriberId } } } },
      )
      .toArray();
    return new Map(rows.flatMap(({ eventId, entries = [] }) => (entries[0] ? [[eventId, entries[0]]] : [])));
  }
}
