/** Thrown for a cursor that no list gave. */
export class InvalidCursorError extends Error {}

/** The place in a list that is sorted by time and id, both descending. */
export function writeCursor(time: Date, id: string): string {
  return Buffer.from(`${time.getTime()}.${id}`).toString('base64url');
}

/** @throws InvalidCursorError */
export function readCursor(cursor: string): { time: Date; id: string } {
  const match = /^(\d{1,15})\.(.+)$/.exec(Buffer.from(cursor, 'base64url').toString());
  if (!match?.[2]) throw new InvalidCursorError('is not one that a list gave: take nextCursor as it is');
  return { time: new Date(Number(match[1])), id: match[2] };
}
