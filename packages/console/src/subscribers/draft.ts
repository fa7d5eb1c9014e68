import { openIssues, wordsOf } from '@waybill/shared/contracts/fault-words';
import { subscriberId, subscriberTerms } from '@waybill/shared/contracts/subscriber-terms';
import { z } from 'zod';
import type { Subscriber } from '../waybill.ts';

const FIELDS = [
  'id',
  'url',
  'statuses',
  'attributes',
  'timeoutMs',
  'connectTimeoutMs',
  'maxAttempts',
  'maxElapsedMs',
  'concurrency',
  'ratePerSecond',
  'backoff',
  'ordering',
  'onDead',
  'sequence',
  'payload',
  'keepResponse',
  'conflictMeans',
  'headers',
  'auth',
] as const;

/** What the form holds: text as it is typed. */
export type Draft = Readonly<Record<(typeof FIELDS)[number], string>>;

/** What is wrong, by field; and what is wrong with none of them in particular. */
export type Faults = Readonly<Partial<Record<keyof Draft | 'rest', string>>>;

/** The rules of the API but for `auth`, which only it can judge. */
const terms = z.strictObject({ ...subscriberTerms, auth: z.looseObject({ type: z.string() }) });
export type Terms = z.output<typeof terms>;

const DELIVERY_NUMBERS = [
  'timeoutMs',
  'connectTimeoutMs',
  'maxAttempts',
  'maxElapsedMs',
  'concurrency',
  'ratePerSecond',
] as const;
const DELIVERY_TEXTS = ['ordering', 'onDead', 'payload', 'keepResponse', 'conflictMeans'] as const;

/** A form for what is there; the defaults for one that is not there yet. */
export function draftOf(subscriber: Subscriber | null): Draft {
  const delivery = subscriber?.delivery ?? subscriberTerms.delivery.parse(undefined);
  const { backoff, ratePerSecond } = delivery;
  const json = (value: object | undefined) =>
    value === undefined || Object.keys(value).length === 0 ? '' : JSON.stringify(value, null, 2);
  return {
    id: subscriber?.id ?? '',
    url: subscriber?.url ?? '',
    statuses: subscriber?.filter.statuses?.join(', ') ?? '',
    attributes: json(subscriber?.filter.attributes),
    timeoutMs: String(delivery.timeoutMs),
    connectTimeoutMs: String(delivery.connectTimeoutMs),
    maxAttempts: String(delivery.maxAttempts),
    maxElapsedMs: String(delivery.maxElapsedMs),
    concurrency: String(delivery.concurrency),
    ratePerSecond: ratePerSecond === undefined ? '' : String(ratePerSecond),
    backoff: json(backoff),
    ordering: delivery.ordering,
    onDead: delivery.onDead,
    sequence: String(delivery.sequence),
    payload: delivery.payload,
    keepResponse: delivery.keepResponse,
    conflictMeans: delivery.conflictMeans,
    headers: json(delivery.headers),
    auth: authDraft(subscriber),
  };
}

/** A signature without its secret keeps the present one; any other credential has to be put again. */
function authDraft(subscriber: Subscriber | null): string {
  const type = subscriber?.auth.type ?? 'none';
  return type === 'none' || type === 'signature' ? JSON.stringify({ type }) : '';
}

/**
 * What the form says, by the same rules as the API's.
 *
 * @param before what is not in the form stays as it is.
 */
export function termsOf(
  draft: Draft,
  before: Subscriber | null,
): { readonly terms: Terms; readonly faults: null } | { readonly terms: null; readonly faults: Faults } {
  const faults: Partial<Record<keyof Draft | 'rest', string>> = {};
  const object = (field: 'attributes' | 'backoff' | 'headers' | 'auth'): unknown => {
    if (draft[field].trim() === '') return undefined;
    try {
      return JSON.parse(draft[field]);
    } catch {
      faults[field] = 'is not JSON';
      return undefined;
    }
  };
  const statuses = draft.statuses.split(/[\s,]+/).filter((status) => status !== '');
  const attributes = object('attributes');
  const backoff = object('backoff');
  const headers = object('headers');
  const auth = object('auth');
  if (auth === undefined && faults.auth === undefined)
    faults.auth = 'its secrets are never shown, so the credential has to be put again, whole';
  const numbers = DELIVERY_NUMBERS.flatMap((name) =>
    draft[name].trim() === '' ? [] : [[name, Number(draft[name])]],
  );
  const texts = DELIVERY_TEXTS.map((name) => [name, draft[name]]);
  const propagate = before?.delivery.propagate;
  const input = {
    url: draft.url.trim(),
    filter: {
      ...(statuses.length > 0 ? { statuses } : {}),
      ...(attributes === undefined ? {} : { attributes }),
    },
    delivery: {
      ...Object.fromEntries([...numbers, ...texts]),
      sequence: draft.sequence === 'true',
      ...(backoff === undefined ? {} : { backoff }),
      ...(headers === undefined ? {} : { headers }),
      ...(propagate === undefined ? {} : { propagate }),
    },
    enabled: before?.enabled ?? true,
    auth: auth ?? { type: 'none' },
  };
  const id = subscriberId.safeParse(draft.id);
  if (!id.success) faults.id = id.error.issues[0]?.message ?? 'is not an id';
  const parsed = terms.safeParse(input);
  for (const issue of openIssues(parsed.error?.issues ?? [])) faults[fieldOf(issue.path)] ??= wordsOf(issue);
  if (!parsed.success || Object.keys(faults).length > 0) return { terms: null, faults };
  return { terms: parsed.data, faults: null };
}

/** The field that a path of the schema, or of the API, leads to. */
export function fieldOf(path: readonly PropertyKey[]): keyof Draft | 'rest' {
  const [first, second] = path.map(String);
  const name = first === 'filter' || first === 'delivery' ? second : first;
  return FIELDS.find((field) => field === name) ?? 'rest';
}
