import { deadLettersQuery, reprocessQuery } from '@waybill/shared/contracts/http-api';
import { writeCursor } from '@waybill/shared/domain/cursor';
import { ProblemError } from '@waybill/shared/domain/errors';
import type { Producer } from '@waybill/shared/kafka/producer';
import { type DeadLetterRow, type DeadLetterStore, toBuffer } from '@waybill/shared/stores/dead-letters';
import type { DeliveryRow, DeliveryStore } from '@waybill/shared/stores/deliveries';
import { pageOf } from '@waybill/shared/stores/page';
import { Router } from 'express';
import type { authentication } from './authentication.ts';
import { callerOf } from './authentication.ts';
import { readQuery } from './query.ts';

interface DeadLetterRoutesDeps {
  readonly deadLetters: DeadLetterStore;
  readonly deliveries: DeliveryStore;
  readonly producer: Producer;
}

interface Letter {
  readonly id: string;
  readonly at: Date;
  readonly view: object;
}

/** What will not go on by itself: dead deliveries, and messages that could not be taken. */
export function deadLetterRoutes(
  allow: ReturnType<typeof authentication>,
  { deadLetters, deliveries, producer }: DeadLetterRoutesDeps,
): Router {
  const router = Router();

  router.get('/', allow('operator'), async (request, response) => {
    const { kind, cursor, limit } = readQuery(deadLettersQuery, request);
    const [messages, dead] = await Promise.all([
      kind === 'delivery' ? [] : deadLetters.list(cursor, limit + 1),
      kind === 'message' ? [] : deliveries.dead(cursor, limit + 1),
    ]);
    const letters = [...messages.map(messageLetter), ...dead.map(deliveryLetter)].sort(newestFirst);
    const { items, nextCursor } = pageOf(letters, limit, ({ at, id }) => writeCursor(at, id));
    response.json({ items: items.map(({ view }) => view), nextCursor });
  });

  router.post('/reprocess', allow('operator'), async (request, response) => {
    const { id } = readQuery(reprocessQuery, request);
    const letter = await deadLetters.beginReprocessing(id, callerOf(response));
    if (!letter?.place) {
      const present = await deadLetters.get(id);
      if (!present) throw new ProblemError('not_found', `there is no message ${id} put aside`);
      if (!present.place)
        throw new ProblemError('not_reprocessable', `${id} is no Kafka message: post the event again`);
      throw new ProblemError('already_done', `message ${id} was sent again already`);
    }
    try {
      await producer.sendRaw(letter.place.topic, [bytesOf(letter)]);
    } catch (error) {
      await deadLetters.abandonReprocessing(id);
      throw error;
    }
    await deadLetters.finishReprocessing(id);
    response.status(202).json({ id, topic: letter.place.topic });
  });

  return router;
}

function bytesOf({ key, value, headers }: DeadLetterRow) {
  const named = Map.groupBy(headers, ({ name }) => name);
  const plain = [...named].map(([name, list]) => [name, list.map(({ value: bytes }) => toBuffer(bytes))]);
  return { key: key && toBuffer(key), value: value && toBuffer(value), headers: Object.fromEntries(plain) };
}

function messageLetter({
  _id,
  key,
  value,
  headers,
  place,
  putAsideAt,
  reprocess,
  ...row
}: DeadLetterRow): Letter {
  const view = {
    kind: 'message',
    id: _id,
    at: putAsideAt,
    topic: place?.topic ?? null,
    partition: place?.partition ?? null,
    offset: place?.offset ?? null,
    ...row,
    key: key && toBuffer(key).toString('base64'),
    value: value && toBuffer(value).toString('base64'),
    headers: headers.map(({ name, value: bytes }) => ({ name, value: toBuffer(bytes).toString('base64') })),
    reprocess: reprocess ?? null,
  };
  return { id: _id, at: putAsideAt, view };
}

function deliveryLetter({ _id, closedAt, createdAt, ...row }: DeliveryRow): Letter {
  const at = closedAt ?? createdAt;
  const { shipmentId, subscriberId, eventVersion, status, reason, attemptCount } = row;
  const view = {
    kind: 'delivery',
    id: _id,
    at,
    shipmentId,
    subscriberId,
    eventVersion,
    status,
    reason,
    attemptCount,
  };
  return { id: _id, at, view };
}

function newestFirst(a: Letter, b: Letter): number {
  return b.at.getTime() - a.at.getTime() || (a.id < b.id ? 1 : -1);
}
