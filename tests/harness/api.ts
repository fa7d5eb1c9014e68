/** A client of the HTTP API that knows of the services only what their documentation says. */

type State = 'pending' | 'queued' | 'in_flight' | 'delivered' | 'dead' | 'superseded' | 'cancelled';

export interface StatusEvent {
  shipmentId: string;
  eventVersion: number;
  status: string;
  occurredAt: string;
  attributes?: Record<string, string>;
  data?: unknown;
  eventId?: string;
}

export interface PostAnswer {
  results: {
    shipmentId: string | null;
    eventVersion: number | null;
    result: 'accepted' | 'duplicate' | 'conflict' | 'invalid';
  }[];
}

interface AttemptView {
  number: number;
  outcome: 'accepted' | 'rejected' | 'unknown' | 'not_sent' | null;
  reason: string | null;
  statusCode: number | null;
  leaseId: string;
  worker: string;
  claimedAt: string;
  leftAt: string | null;
  endedAt: string | null;
  leaseUntil: string;
  traceId: string | null;
  spanId: string | null;
  /** What the worker reported when it had lost the lease. */
  late?: { outcome: string; reason: string | null; statusCode: number | null };
}

export interface Delivery {
  id: string;
  shipmentId: string;
  subscriberId: string;
  eventVersion: number;
  status: string;
  state: State;
  reason: string | null;
  dueAt: string | null;
  idempotencyKey: string;
  runId: string;
  traceId: string | null;
  traceUrl: string | null;
  createdAt: string;
  attempts: AttemptView[];
  transitions: { at: string; from: State | null; to: State; cause: string; reason: string | null }[];
}

export interface Shipment {
  shipmentId: string;
  versions: {
    eventVersion: number;
    status: string;
    occurredAt: string;
    deliveries: { id: string; subscriberId: string; state: State; attempts: number }[];
    notSent: { subscriberId: string; reason: string }[];
  }[];
}

interface ShipmentPage extends Shipment {
  nextCursor: string | null;
}

export interface SubscriberInput {
  url: string;
  filter?: { statuses?: string[]; attributes?: Record<string, string[]> };
  delivery?: {
    timeoutMs?: number;
    maxAttempts?: number;
    backoff?: { initialMs: number; maxMs?: number; jitter?: number };
    concurrency?: number;
    ordering?: 'none' | 'latest' | 'strict';
    sequence?: boolean;
    propagate?: ('tracestate' | 'baggage')[];
  };
  auth?: { type: 'none' | 'signature' };
}

export interface DeliveryFilter {
  shipmentId?: string;
  subscriberId?: string;
  state?: State;
  outcome?: string;
}

export interface Reply<Body> {
  readonly status: number;
  readonly contentType: string;
  readonly body: Body;
}

export type ApiKeys = Readonly<Record<'ingest' | 'operator' | 'admin', string>>;

export class Api {
  readonly base: string;
  readonly keys: ApiKeys;

  constructor(base: string, keys: ApiKeys) {
    this.base = base;
    this.keys = keys;
  }

  /** Any call, with any status; `body` that is a string is sent as it is. */
  async call<Body>(
    role: keyof ApiKeys,
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Reply<Body>> {
    const reply = await fetch(new URL(path, this.base), {
      method,
      headers: {
        authorization: `Bearer ${this.keys[role]}`,
        'content-type': 'application/json',
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await reply.text();
    const contentType = reply.headers.get('content-type') ?? '';
    return { status: reply.status, contentType, body: (text === '' ? null : JSON.parse(text)) as Body };
  }

  postEvents(
    events: StatusEvent | readonly StatusEvent[] | string,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Reply<PostAnswer>> {
    return this.call('ingest', 'POST', '/v1/status-events', events, headers);
  }

  async putSubscriber(id: string, input: SubscriberInput): Promise<void> {
    await this.#expect('admin', 'PUT', `/v1/subscribers/${id}`, input);
  }

  delivery(id: string): Promise<Delivery> {
    return this.#expect('operator', 'GET', `/v1/deliveries/${id}`);
  }

  /** Every delivery that the filter lets through, page after page. */
  async deliveries(filter: DeliveryFilter = {}): Promise<Delivery[]> {
    const found: Delivery[] = [];
    const query = new URLSearchParams({ ...filter, limit: '500' });
    for (let more = true; more; ) {
      const page: { items: Delivery[]; nextCursor: string | null } = await this.#expect(
        'operator',
        'GET',
        `/v1/deliveries?${query}`,
      );
      found.push(...page.items);
      more = page.nextCursor !== null;
      if (page.nextCursor !== null) query.set('cursor', page.nextCursor);
    }
    return found;
  }

  /** All its versions, page after page. Null while nothing is known of the shipment. */
  async shipment(id: string): Promise<Shipment | null> {
    const path = `/v1/shipments/${encodeURIComponent(id)}`;
    const { status, body } = await this.call<ShipmentPage>('operator', 'GET', path);
    if (status === 404) return null;
    const { nextCursor, ...shipment } = body;
    for (let cursor = nextCursor; cursor !== null; ) {
      const page: ShipmentPage = await this.#expect('operator', 'GET', `${path}?cursor=${cursor}`);
      shipment.versions.push(...page.versions);
      cursor = page.nextCursor;
    }
    return shipment;
  }

  async #expect<Body>(role: keyof ApiKeys, method: string, path: string, body?: unknown): Promise<Body> {
    const reply = await this.call<Body>(role, method, path, body);
    if (reply.status < 200 || reply.status > 299) {
      throw new Error(`${method} ${path} was answered ${reply.status}: ${JSON.stringify(reply.body)}`);
    }
    return reply.body;
  }
}
