import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FileFaults, readSubscribers } from './read-directory.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'waybill-apply-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

function write(name: string, text: string): string {
  const file = join(directory, name);
  writeFileSync(file, text);
  return file;
}

function faults(env: Record<string, string> = {}, path = directory): string[] {
  try {
    readSubscribers(path, env);
    return [];
  } catch (error) {
    if (!(error instanceof FileFaults)) throw error;
    return error.faults.map((line) => line.replaceAll(`${directory}/`, ''));
  }
}

describe('files of subscribers', () => {
  it('are YAML of one or several documents, and JSON, also in folders', () => {
    write(
      'a.yaml',
      'id: one\nurl: https://one.example\n---\nid: two\nurl: https://two.example\nenabled: false\n',
    );
    write('b.json', '{"id":"three","url":"https://three.example"}');
    mkdirSync(join(directory, 'more'));
    write('more/c.yml', 'id: four\nurl: https://four.example');
    write('notes.txt', 'not read');
    const read = readSubscribers(directory, {});
    expect(read.map(({ id, saysEnabled }) => [id, saysEnabled])).toEqual([
      ['one', false],
      ['two', true],
      ['three', false],
      ['four', false],
    ]);
    // What is put is what is written: defaults are for comparing.
    expect(read[0]?.body).toEqual({ url: 'https://one.example' });
    expect(read[0]?.input.delivery.timeoutMs).toBe(15_000);
  });

  it('take secrets from where they say', () => {
    const secret = write('token.txt', 'from-the-file\n');
    write(
      'a.yaml',
      `id: one\nurl: https://one.example\nauth: {type: all, of: [{type: bearer, token: {fromFile: "${secret}"}}, {type: signature, secret: {fromEnv: SIGNING}}]}`,
    );
    const signing = `whsec_${Buffer.alloc(24).toString('base64')}`;
    const [one] = readSubscribers(directory, { SIGNING: signing });
    expect(one?.body.auth).toEqual({
      type: 'all',
      of: [
        { type: 'bearer', token: 'from-the-file' },
        { type: 'signature', secret: signing },
      ],
    });
  });

  it('tell every fault of all of them, with the place, and no secret', () => {
    write('a.yaml', 'id: "no spaces"\nurl: https://one.example');
    write('b.yaml', 'id: two\nurl: ftp://two\ndelivery: {timeoutMs: 1, tries: 3}');
    write('c.yaml', 'id: two\nurl: https://two.example');
    write('d.yaml', 'id: four\nurl: https://four.example\nauth: {type: bearer, token: {fromEnv: MISSING}}');
    write('e.yaml', 'id: five\nauth: {token: hidden');
    write('f.yaml', '- 1');
    write('g.yaml', 'id: six\nurl: https://six.example\nauth: {type: bearer, token: "hidden\\n"}');
    const found = faults();
    expect(found).toEqual([
      expect.stringMatching(/^a\.yaml: id must be/),
      expect.stringMatching(/^b\.yaml: url /),
      expect.stringMatching(/^b\.yaml: delivery\.timeoutMs /),
      expect.stringMatching(/^b\.yaml: delivery .*tries/),
      expect.stringMatching(/^d\.yaml: auth\.token is taken from MISSING, which is not set$/),
      expect.stringMatching(/^e\.yaml: .* at line 2, column \d+$/),
      expect.stringMatching(/^f\.yaml: must be an object/),
      expect.stringMatching(/^g\.yaml: auth\.token /),
    ]);
    expect(found.join()).not.toContain('hidden');
  });

  it('may hold documents with nothing in them, and folders of any name', () => {
    write('a.yaml', '# one of two\n---\nid: one\nurl: https://one.example\n---\n');
    write('b.yaml', '# nothing yet\n');
    mkdirSync(join(directory, 'more.yaml'));
    expect(readSubscribers(directory, {}).map(({ id }) => id)).toEqual(['one']);
  });

  it('tell an alias that leads nowhere, to itself or to far too much', () => {
    const tenOf = (name: string) => `[${Array(10).fill(`*${name}`).join(', ')}]`;
    write('a.yaml', 'id: one\nurl: *nowhere');
    write('b.yaml', 'id: two\nurl: https://two.example\nauth: &all {type: all, of: [*all]}');
    write('c.yaml', `a: &a [1]\nb: &b ${tenOf('a')}\nc: &c ${tenOf('b')}\nd: ${tenOf('c')}`);
    expect(faults()).toEqual([
      expect.stringMatching(/^a\.yaml: .*nowhere/),
      expect.stringMatching(/^b\.yaml: an alias stands inside its own anchor$/),
      expect.stringMatching(/^c\.yaml: Excessive alias count/),
    ]);
  });

  it('name a subscriber that is described twice', () => {
    write('a.yaml', 'id: one\nurl: https://one.example');
    write('b.yaml', 'id: one\nurl: https://one.example');
    expect(faults()).toEqual([expect.stringMatching(/^b\.yaml: one is described in .*a\.yaml already$/)]);
  });

  it('have to be there', () => {
    expect(faults()).toEqual([expect.stringContaining('holds no .yaml')]);
    expect(faults({}, join(directory, 'none'))).toEqual([expect.stringContaining('cannot be read')]);
  });
});
