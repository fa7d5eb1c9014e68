import type { Schemas } from '@waybill/client';
import { subscriberInput } from '@waybill/shared/contracts/subscriber';
import { describe, expect, it } from 'vitest';
import { changesBetween, planOf } from './plan.ts';
import type { Wanted } from './read-directory.ts';

const OPTIONS = { prune: false, putSecrets: false };

function wanted(id: string, body: Record<string, unknown> = {}): Wanted {
  const whole = { url: `https://${id}.example/hook`, ...body };
  return {
    id,
    file: `${id}.yaml`,
    body: whole,
    input: subscriberInput.parse(whole),
    saysEnabled: 'enabled' in body,
  };
}

/** As the API shows what was put, for the most part. */
function present(id: string, body: Record<string, unknown> = {}, shown: object = {}): Schemas['Subscriber'] {
  const { input } = wanted(id, body);
  return { ...input, id, version: 1, ...shown } as unknown as Schemas['Subscriber'];
}

describe('a plan', () => {
  it('makes what is not there, telling what differs from the defaults', () => {
    const [step] = planOf(
      [wanted('new', { delivery: { maxAttempts: 3 }, auth: { type: 'signature' } })],
      [],
      OPTIONS,
    );
    expect(step).toMatchObject({
      id: 'new',
      action: 'create',
      hasSecret: false,
      body: { delivery: { maxAttempts: 3 } },
    });
    expect(step?.changes.map(({ path, after }) => [path, after])).toEqual([
      ['url', 'https://new.example/hook'],
      ['delivery.maxAttempts', 3],
      ['auth.type', 'signature'],
      ['auth.secret', '(secret)'],
    ]);
  });

  it('leaves alone what is as it is wanted', () => {
    const body = { filter: { statuses: ['delivered'] }, delivery: { ordering: 'strict' } };
    expect(planOf([wanted('same', body)], [present('same', body)], OPTIONS)).toEqual([
      { id: 'same', action: 'unchanged', changes: [], hasSecret: false, body: null },
    ]);
  });

  it('names each field that differs, and puts the whole', () => {
    const [step] = planOf(
      [wanted('one', { delivery: { timeoutMs: 5_000 }, filter: { statuses: ['a', 'b'] } })],
      [present('one', { delivery: { ratePerSecond: 5 }, filter: { statuses: ['a'] } })],
      OPTIONS,
    );
    expect(step?.action).toBe('update');
    expect(step?.changes).toEqual([
      { path: 'filter.statuses', before: ['a'], after: ['a', 'b'] },
      { path: 'delivery.timeoutMs', before: 15_000, after: 5_000 },
      { path: 'delivery.ratePerSecond', before: 5, after: undefined },
    ]);
  });

  it('does not enable what somebody disabled, unless the file says so', () => {
    const disabled = present('one', { enabled: false });
    expect(planOf([wanted('one')], [disabled], OPTIONS)[0]?.action).toBe('unchanged');
    const changed = planOf([wanted('one', { delivery: { maxAttempts: 2 } })], [disabled], OPTIONS)[0];
    expect(changed?.body).toMatchObject({ enabled: false });
    const said = planOf([wanted('one', { enabled: true })], [disabled], OPTIONS)[0];
    expect(said?.changes).toEqual([{ path: 'enabled', before: false, after: true }]);
  });

  it('does not take a secret that cannot be compared for a difference, and puts it when asked to', () => {
    const file = wanted('one', { auth: { type: 'bearer', token: 'in-the-file' } });
    const shown = present('one', {}, { auth: { type: 'bearer', token: { fingerprint: '1a2b3c4d' } } });
    const [step] = planOf([file], [shown], OPTIONS);
    expect(step).toMatchObject({ action: 'unchanged', hasSecret: true, body: null });
    const [put] = planOf([file], [shown], { ...OPTIONS, putSecrets: true });
    expect(put).toMatchObject({ action: 'update', changes: [], body: { auth: { token: 'in-the-file' } } });
    expect(JSON.stringify(planOf([file], [], OPTIONS)[0]?.changes)).not.toContain('in-the-file');
  });

  it('sees another kind of auth, and no difference in secrets that a rotation left', () => {
    const signature = { secret: { fingerprint: 'aa' }, previous: [{ fingerprint: 'bb', expiresAt: 'x' }] };
    const shown = present('one', {}, { auth: { type: 'signature', ...signature } });
    expect(planOf([wanted('one', { auth: { type: 'signature' } })], [shown], OPTIONS)[0]?.action).toBe(
      'unchanged',
    );
    const basic = wanted('one', { auth: { type: 'basic', username: 'u', password: 'p' } });
    expect(planOf([basic], [shown], OPTIONS)[0]?.changes.map(({ path }) => path)).toEqual([
      'auth.type',
      'auth.secret',
      'auth.username',
      'auth.password',
    ]);
  });

  it('keeps what no file describes, or removes it when asked to', () => {
    expect(planOf([], [present('old')], OPTIONS)[0]?.action).toBe('left');
    expect(planOf([], [present('old')], { ...OPTIONS, prune: true })[0]?.action).toBe('delete');
  });

  it('does not take a field for a difference that a release before did not know', () => {
    const { delivery, ...rest } = present('one');
    const { propagate: _, conflictMeans: __, ...older } = delivery;
    const shown = { ...rest, delivery: older } as unknown as Schemas['Subscriber'];
    expect(planOf([wanted('one')], [shown], OPTIONS)[0]?.action).toBe('unchanged');
  });
});

describe('changes', () => {
  it('are leaves; a list is one', () => {
    expect(changesBetween({ a: { b: 1, c: [1] }, d: 1 }, { a: { b: 2, c: [1, 2] } })).toEqual([
      { path: 'a.b', before: 1, after: 2 },
      { path: 'a.c', before: [1], after: [1, 2] },
      { path: 'd', before: 1, after: undefined },
    ]);
  });
});
