import { isDeepStrictEqual } from 'node:util';
import type { Schemas } from '@waybill/client';
import { type AuthInput, type AuthPolicy, partsOf } from '@waybill/shared/contracts/auth/auth-policy';
import { newSigningSecret } from '@waybill/shared/contracts/auth/signature';
import { subscriberInput } from '@waybill/shared/contracts/subscriber';
import { showAuth } from '@waybill/shared/sealing/shown-auth';
import type { Wanted } from './read-directory.ts';

type Present = Schemas['Subscriber'];

/** One field that is to change. */
export interface Change {
  /** Such as `delivery.timeoutMs`. */
  readonly path: string;
  /** Undefined: it is not there. */
  readonly before: unknown;
  readonly after: unknown;
}

export interface Step {
  readonly id: string;
  readonly action: 'create' | 'update' | 'unchanged' | 'delete' | 'left';
  readonly changes: readonly Change[];
  /** Whether its file holds a secret: what is stored cannot be compared with it. */
  readonly hasSecret: boolean;
  /** What is to be put; null where nothing is. */
  readonly body: Readonly<Record<string, unknown>> | null;
}

export interface PlanOptions {
  /** Removes what no file describes. */
  readonly prune: boolean;
  /** Puts what has a secret, whether anything else differs or not. */
  readonly putSecrets: boolean;
}

/** What has to be done so that subscribers are as files want them. Pure. */
export function planOf(wanted: readonly Wanted[], present: readonly Present[], options: PlanOptions): Step[] {
  const presentById = new Map(present.map((subscriber) => [subscriber.id, subscriber]));
  const described = new Set(wanted.map(({ id }) => id));
  const none = { changes: [], hasSecret: false, body: null };
  return [
    ...wanted.map((one) => stepOf(one, presentById.get(one.id), options)),
    ...present
      .filter(({ id }) => !described.has(id))
      .map(({ id }) => ({ ...none, id, action: options.prune ? ('delete' as const) : ('left' as const) })),
  ];
}

function stepOf(wanted: Wanted, present: Present | undefined, { putSecrets }: PlanOptions): Step {
  const { id, input, body } = wanted;
  const hasSecret = partsOf(input.auth).some(
    (part) => part.type !== 'signature' || part.secret !== undefined,
  );
  if (present === undefined) {
    const defaults = subscriberInput.parse({ url: input.url });
    const changes = changesBetween({ ...defaults, url: undefined }, comparable(input, input.auth));
    return {
      id,
      action: 'create',
      changes: changes.map(({ path, after }) => ({ path, before: undefined, after })),
      hasSecret,
      body,
    };
  }
  // Somebody may have disabled it for a reason that the file does not know.
  const enabled = wanted.saysEnabled ? input.enabled : present.enabled;
  const changes = changesBetween(presentView(present), comparable({ ...input, enabled }, input.auth));
  if (changes.length === 0 && !(putSecrets && hasSecret))
    return { id, action: 'unchanged', changes, hasSecret, body: null };
  return { id, action: 'update', changes, hasSecret, body: { ...body, enabled } };
}

interface Comparable {
  readonly url: string;
  readonly filter: unknown;
  readonly delivery: unknown;
  readonly enabled: boolean;
}

function comparable({ url, filter, delivery, enabled }: Comparable, auth: AuthInput): object {
  const whole = partsOf(auth).map((part) =>
    part.type === 'signature' ? { ...part, secret: part.secret ?? newSigningSecret(), previous: [] } : part,
  );
  const policy = (auth.type === 'none' ? auth : { type: 'all', of: whole }) as AuthPolicy;
  const { shown } = showAuth(policy, () => '');
  const single =
    auth.type === 'all' || auth.type === 'none' ? shown : (shown as unknown as { of: unknown[] }).of[0];
  return { url, filter, delivery, auth: withoutSecrets(single), enabled };
}

/** With the defaults that came after it was put. */
function presentView({ url, filter, delivery, enabled, auth }: Present): object {
  const parsed = subscriberInput.safeParse({ url, filter, delivery, enabled });
  const known = parsed.success ? parsed.data : { url, filter, delivery, enabled };
  const { url: _, filter: f, delivery: d } = known;
  return { url, filter: f, delivery: d, auth: withoutSecrets(auth), enabled };
}

/** A secret is shown by a fingerprint that only Waybill can make, so one is like another here. */
function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== 'object' || value === null) return value;
  if ('fingerprint' in value) return '(secret)';
  const kept = Object.entries(value).filter(([name]) => name !== 'previous');
  return Object.fromEntries(kept.map(([name, inner]) => [name, withoutSecrets(inner)]));
}

/** Every leaf that differs, lists as a whole. */
export function changesBetween(before: unknown, after: unknown, path = ''): Change[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (!isPlain(before) && !isPlain(after)) return [{ path, before, after }];
  const [old, next] = [isPlain(before) ? before : {}, isPlain(after) ? after : {}];
  const names = new Set([...Object.keys(old), ...Object.keys(next)]);
  return [...names].flatMap((name) =>
    changesBetween(old[name], next[name], path === '' ? name : `${path}.${name}`),
  );
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
