import stringWidth from 'string-width';

/** One column: its title, and what it shows of a row. */
export interface Column<Row> {
  readonly title: string;
  readonly of: (row: Row) => string | number | null | undefined;
  /** Numbers stand at the right. */
  readonly right?: boolean;
  /** Colours a cell, which must not change its width. */
  readonly paint?: (cell: string, row: Row) => string;
}

const GAP = '  ';
/** What stands where there is nothing, so that a column never seems to be missing. */
const NOTHING = '-';

/**
 * Lines of a table in columns, for a screen. What others wrote (a subscriber's answer, a shipment's name) cannot move the
 * cursor: control characters are shown as their escapes.
 *
 * Widths only grow, so that rows that come later stand below those before as far as they can.
 */
export class Table<Row> {
  readonly #columns: readonly Column<Row>[];
  readonly #widths: number[];
  #headed = false;

  constructor(columns: readonly Column<Row>[]) {
    this.#columns = columns;
    this.#widths = columns.map(({ title }) => stringWidth(title));
  }

  /** The lines of some rows, the first time under a head. */
  lines(rows: readonly Row[]): string[] {
    const cells = rows.map((row) => this.#columns.map(({ of }) => cellOf(of(row))));
    for (const line of cells)
      for (const [index, cell] of line.entries())
        this.#widths[index] = Math.max(this.#widths[index] ?? 0, stringWidth(cell));
    const head = this.#headed
      ? []
      : [
          this.#line(
            this.#columns.map(({ title }) => title),
            null,
          ),
        ];
    this.#headed = true;
    return [...head, ...cells.map((line, index) => this.#line(line, rows[index] ?? null))];
  }

  #line(cells: readonly string[], row: Row | null): string {
    const last = cells.length - 1;
    const padded = this.#columns.map(({ right, paint }, index) => {
      const cell = cells[index] ?? '';
      const space = ' '.repeat(Math.max(0, (this.#widths[index] ?? 0) - stringWidth(cell)));
      const shown = row === null || !paint ? cell : paint(cell, row);
      if (right) return space + shown;
      return index === last ? shown : shown + space;
    });
    return padded.join(GAP).trimEnd();
  }
}

function cellOf(value: string | number | null | undefined): string {
  return value === null || value === undefined || value === '' ? NOTHING : visible(String(value));
}

/** Text with control and format characters as their escapes. */
export function visible(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}
