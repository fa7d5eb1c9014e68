import { coloured, type Io } from '../io.ts';
import { type Column, Table, visible } from './table.ts';

/** Rows that a table waits for before it shows them, so that their columns stand in line. */
const ROWS_AT_ONCE = 100;

/** One line of a record: what it is, and its value. */
export type Field = readonly [name: string, value: string | number | boolean | null | undefined];

/** Shows results: tables and words for people, or with `--json` one document or one line per item for programs. */
export class Output {
  readonly json: boolean;
  readonly #io: Io;

  constructor(io: Io, json: boolean) {
    this.#io = io;
    this.json = json;
  }

  /** Items as they come; JSON lines (NDJSON) for programs. */
  async list<Item>(
    items: AsyncIterable<Item> | Iterable<Item>,
    columns: readonly Column<Item>[],
    empty: string,
  ): Promise<void> {
    const table = new Table(columns);
    let waiting: Item[] = [];
    let shown = false;
    const flush = () => {
      for (const line of waiting.length > 0 ? table.lines(waiting) : []) this.line(line);
      shown ||= waiting.length > 0;
      waiting = [];
    };
    for await (const item of items) {
      if (this.json) this.document(item);
      else waiting.push(item);
      if (waiting.length >= ROWS_AT_ONCE) flush();
    }
    flush();
    if (!this.json && !shown) this.note(empty);
  }

  /** One result: a JSON document for programs, else what `people` shows. */
  one(value: unknown, people: () => void): void {
    if (this.json) this.document(value);
    else people();
  }

  /** A line of JSON. */
  document(value: unknown): void {
    this.#io.out(`${JSON.stringify(value)}\n`);
  }

  /** Names and values below each other; what has no value is left out. */
  fields(fields: readonly Field[]): void {
    const present = fields.filter(([, value]) => value !== null && value !== undefined && value !== '');
    const width = Math.max(0, ...present.map(([name]) => name.length));
    for (const [name, value] of present)
      this.line(`${this.dim(name.padEnd(width))}  ${visible(String(value))}`);
  }

  table<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): void {
    for (const line of new Table(columns).lines(rows)) this.line(line);
  }

  line(text = ''): void {
    this.#io.out(`${text}\n`);
  }

  /** Said beside the results: not part of what a program reads. */
  note(text: string): void {
    this.#io.err(`${text}\n`);
  }

  good(text: string): string {
    return coloured(this.#io, 'green', text);
  }

  bad(text: string): string {
    return coloured(this.#io, 'red', text);
  }

  doubtful(text: string): string {
    return coloured(this.#io, 'yellow', text);
  }

  dim(text: string): string {
    return coloured(this.#io, 'dim', text);
  }

  bold(text: string): string {
    return coloured(this.#io, 'bold', text);
  }
}
