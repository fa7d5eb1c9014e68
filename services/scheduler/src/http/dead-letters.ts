import { deadLetterAnswer, pageOf as listOf, reprocessAnswer } from '@waybill/shared/contracts/http-answers';
import { deadLettersQuery, reprocessQuery } from '@waybill/shared/contracts/http-api';
import { writeCursor } from '@waybill/shared/domain/cursor';
import { ProblemError } from '@waybill/shared/domain/errors';
import type { Producer } from '@waybill/shared/kafka/producer';
import { type DeadLetterRow, type DeadLetterStore, toBuffer } from '@waybill/shared/stores/dead-letters';
import type { DeliveryRow, DeliveryStore } from '@waybill/shared/stores/deliveries';
import { pageOf } from '@waybill/shared/stores/page';
import type { z } from 'zod';
import { routesFor } from './route.ts';

interface DeadLetterDeps {
  readonly deadLetters: DeadLetterStore;
  readonly deliveries: DeliveryStore;
  readonly producer: Producer;
}

interface Letter {
  readonly id: string;
  readonly at: Date;
  readonly view: z.output<typeof deadLetterAnswer>;
}

const route = routesFor<DeadLetterDeps>();

/** What will not go on by itself: dead deliveries, and messages that could not be taken. */
export const deadLetterRoutes = [
  route({
    method: 'get',
    path: '/v1/dead-letters',
    operationId: 'listDeadLetters',
    summary: 'Dead deliveries and messages that could not be taken, newest first',
    roles: ['operator'],
    query: deadLettersQuery,
    answers: { 200: listOf(deadLetterAnswer) },
    async handle({ query: { kind, cursor, limit } }, { deadLetters, deliveries }) {
      const [messages, dead] = await Promise.all([
        kind === 'delivery' ? [] : deadLetters.list(cursor, limit + 1),
        kind === 'message' ? [] : deliveries.dead(cursor, limit + 1),
      ]);
      const letters = [...messages.map(messageLetter), ...dead.map(deliveryLetter)].sort(newestFirst);
      const { items, nextCursor } = pageOf(letters, limit, ({ at, id }) => writeCursor(at, id));
      return { status: 200, body: { items: items.map(({ view }) => view), nextCursor } };
    },
  }),

  route({
    method: 'post',
    path: '/v1/dead-letters/reprocess',
    operationId: 'reprocessDeadLetter',
    summary: 'Sends a message that was put aside to its topic again, once',
    roles: ['operator'],
    query: reprocessQuery,
    answers: { 202: reprocessAnswer },
    problems: ['not_found', 'not_reprocessable', 'already_done'],
    target: ({ query: { id } }) => `dead-letters/${id}`,
    async handle({ query: { id }, caller }, { deadLetters, producer }) {
      const letter = await deadLetters.beginReprocessing(id, caller.name);
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
      return { status: 202, body: { id, topic: letter.place.topic } };
    },
  }),
];

function bytesOf({ key, value, headers }: DeadLetterRow) {
  const named = Map.groupBy(headers, ({ name }) => name);
  const plain = [...named].map(([name, list]) => [name, list.map(({ value: bytes }) => toBuffer(bytes))]);
  return { key: key && toBuffer(key), value: value && toBuffer(value), headers: Object.fromEntries(plain) };
}

function messageLetter({ _id, key, value, headers, place, putAsideAt, ...row }: DeadLetterRow): Letter {
  const base64 = (bytes: Parameters<typeof toBuffer>[0]) => toBuffer(bytes).toString('base64');
  const view = {
    kind: 'message' as const,
    id: _id,
    at: putAsideAt,
    topic: place?.topic ?? null,
    partition: place?.partition ?? null,
    offset: place?.offset ?? null,
    key: key && base64(key),
    value: value && base64(value),
    headers: headers.map(({ name, value: bytes }) => ({ name, value: base64(bytes) })),
    reason: row.reason,
    detail: row.detail,
    reprocess: row.reprocess ?? null,
  };
  return { id: _id, at: putAsideAt, view };
}

function deliveryLetter({ _id, closedAt, createdAt, ...row }: DeliveryRow): Letter {
  const at = closedAt ?? createdAt;
  const { shipmentId, subscriberId, eventVersion, status, reason, attemptCount } = row;
  const identity = { shipmentId, subscriberId, eventVersion };
  const view = { kind: 'delivery' as const, id: _id, at, ...identity, status, reason, attemptCount };
  return { id: _id, at, view };
}

function newestFirst(a: Letter, b: Letter): number {
  return b.at.getTime() - a.at.getTime() || (a.id < b.id ? 1 : -1);
}
