import { setTimeout as delay } from 'node:timers/promises';
import type { IngestResult, Role } from '@waybill/shared/contracts/http-api';
import type { StatusEvent } from '@waybill/shared/contracts/status-event';
import type { DeliveryPolicy, SubscriberInput } from '@waybill/shared/contracts/subscriber';
import type { Attempt, DeliveryState } from '@waybill/shared/domain/delivery';
import type { Outcome } from '@waybill/shared/domain/outcome';
import { request } from 'undici';

/** A value after its way through JSON: times are text, RFC 3339 in UTC. */
type Json<Value> = Value extends Date
  ? string
  : Value extends object
    ? { [Key in keyof Value]: Json<Value[Key]> }
    : Value;

export type AttemptView = Json<Attempt>;

/** The fields of a delivery's record that the demo reads. */
export interface DeliveryView {
  readonly id: string;
  readonly shipmentId: string;
  readonly subscriberId: string;
  readonly eventVersion: number;
  readonly status: string;
  readonly state: DeliveryState;
  readonly reason: string | null;
  readonly dueAt: string | null;
  readonly idempotencyKey: string;
  readonly traceId: string | null;
  readonly attempts: readonly AttemptView[];
}

/** One event version of a shipment: who gets it, and who does not and why. */
export interface VersionView {
  readonly eventVersion: number;
  readonly status: string;
  readonly occurredAt: string;
  /** Null until it is decided who gets it. */
  readonly fannedOutAt: string | null;
  readonly deliveries: readonly {
    readonly subscriberId: string;
    readonly state: DeliveryState;
    readonly reason: string | null;
    readonly dueAt: string | null;
    readonly attempts: number;
    readonly outcome: Outcome | null;
  }[];
  readonly notSent: readonly { readonly subscriberId: string; readonly reason: string }[];
}

export interface ShipmentView {
  readonly shipmentId: string;
  readonly versions: readonly VersionView[];
}

export interface SubscriberPut {
  readonly url: string;
  readonly filter: SubscriberInput['filter'];
  readonly delivery: Partial<DeliveryPolicy>;
}

export type ApiKeys = Readonly<Record<Role, string>>;

type Method = 'GET' | 'PUT' | 'POST' | 'DELETE';

/** For the whole head and for each pause in the body of an answer, in milliseconds. */
const ANSWER_WITHIN_MS = 5_000;
/** How long a call is made again while nobody answers it or it is answered 503, in milliseconds. */
const PERSIST_MS = 15_000;
const PAUSE_MS = 250;

/**
 * A client of the HTTP API. Every call it makes may be made twice, so it is made again while the scheduler is away
 * or says that something it needs is; any other answer that is not a success throws, with the problem in the message.
 */
export class WaybillApi {
  readonly base: string;
  readonly keys: ApiKeys;

  constructor(base: string, keys: ApiKeys) {
    this.base = base.replace(/\/$/, '');
    this.keys = keys;
  }

  async putSubscriber(id: string, input: SubscriberPut): Promise<void> {
    await this.#call('admin', 'PUT', `/v1/subscribers/${id}`, input);
  }

  /** Withdraws what is owed to it. One that is gone already is fine. */
  async deleteSubscriber(id: string): Promise<void> {
    await this.#call('admin', 'DELETE', `/v1/subscribers/${id}`);
  }

  /** Returns once Kafka has the event; an event that was posted before counts as posted. */
  async postEvent(event: StatusEvent): Promise<void> {
    const answer = await this.#call<{ results: IngestResult[] }>(
      'ingest',
      'POST',
      '/v1/status-events',
      event,
    );
    const result = answer?.results[0]?.result;
    if (result === 'accepted' || result === 'duplicate') return;
    throw new Error(
      `${event.shipmentId} version ${event.eventVersion} was not taken: ${result ?? 'no result'}`,
    );
  }

  /** All its versions, page after page. Null while nothing is known of the shipment. */
  async shipment(shipmentId: string): Promise<ShipmentView | null> {
    const path = `/v1/shipments/${encodeURIComponent(shipmentId)}`;
    const versions: VersionView[] = [];
    for (let query = ''; ; ) {
      const page = await this.#call<ShipmentView & { nextCursor: string | null }>(
        'operator',
        'GET',
        path + query,
      );
      versions.push(...(page?.versions ?? []));
      if (!page?.nextCursor) return versions.length === 0 ? null : { shipmentId, versions };
      query = `?cursor=${page.nextCursor}`;
    }
  }

  /** The whole record of every delivery of a shipment, page after page. */
  async deliveriesOf(shipmentId: string): Promise<DeliveryView[]> {
    const found: DeliveryView[] = [];
    const query = new URLSearchParams({ shipmentId, limit: '500' });
    for (let cursor: string | null = ''; cursor !== null; ) {
      if (cursor !== '') query.set('cursor', cursor);
      const page: { items: DeliveryView[]; nextCursor: string | null } | null = await this.#call(
        'operator',
        'GET',
        `/v1/deliveries?${query}`,
      );
      found.push(...(page?.items ?? []));
      cursor = page?.nextCursor ?? null;
    }
    return found;
  }

  /** Null where there is nothing to get or to delete, and for an answer without content. */
  async #call<Body>(role: Role, method: Method, path: string, body?: object): Promise<Body | null> {
    for (const since = performance.now(); ; await delay(PAUSE_MS)) {
      const { status, text } = await this.#try(role, method, path, body);
      if (status === 204 || (status === 404 && (method === 'GET' || method === 'DELETE'))) return null;
      if (status >= 200 && status <= 299) return JSON.parse(text) as Body;
      if (status !== 503 || performance.now() - since > PERSIST_MS) {
        throw new Error(`${method} ${this.base}${path}: ${status === 503 ? 'still ' : ''}${status} ${text}`);
      }
    }
  }

  async #try(
    role: Role,
    method: Method,
    path: string,
    body: object | undefined,
  ): Promise<{ status: number; text: string }> {
    try {
      const answer = await request(this.base + path, {
        method,
        headers: { authorization: `Bearer ${this.keys[role]}`, 'content-type': 'application/json' },
        body: body === undefined ? null : JSON.stringify(body),
        headersTimeout: ANSWER_WITHIN_MS,
        bodyTimeout: ANSWER_WITHIN_MS,
      });
      return { status: answer.statusCode, text: await answer.body.text() };
    } catch (error) {
      // Nobody there is the same to the caller as somebody there who says "not now".
      return { status: 503, text: error instanceof Error ? error.message : String(error) };
    }
  }
}
