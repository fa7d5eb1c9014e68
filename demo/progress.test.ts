import { expect, it } from 'vitest';
import { Progress } from './progress.ts';

function output(isTTY: boolean): {
  text: string;
  isTTY: boolean;
  columns: number;
  write(chunk: unknown): boolean;
} {
  return {
    text: '',
    isTTY,
    columns: 20,
    write(chunk) {
      this.text += String(chunk);
      return true;
    },
  };
}

it('rewrites one line on a terminal, no wider than it is', () => {
  const terminal = output(true);
  const { show, note } = new Progress(terminal);
  show('first and much too long for it');
  show('second');
  note('kept');
  // Columns less the last, which would make some terminals go to the next line.
  expect(terminal.text.split('\r\x1b[K')).toEqual([
    '',
    expect.stringMatching(/^\[0\.\d s\] first and m$/),
    expect.stringMatching(/^\[0\.\d s\] second$/),
    'kept\n',
  ]);
});

it('writes a line now and then elsewhere, and every note', () => {
  const file = output(false);
  const { show, note } = new Progress(file);
  show('first');
  show('too soon');
  note('kept');
  expect(file.text).toMatch(/^\[0\.\d s\] first\nkept\n$/);
});
