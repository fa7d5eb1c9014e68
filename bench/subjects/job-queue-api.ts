import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { StatusEvent } from '@waybill/shared/contracts/status-event';
import { Queue } from 'bullmq';
import express from 'express';
import { bodyOf } from '../load/events.ts';
import { answer } from '../processes/child.ts';
import { type DeliveryJob, QUEUE } from './job-queue-settings.ts';

/** The API process of the plain job queue: takes events over HTTP, adds a job for each subscriber, answers 202. */
let urls: readonly string[] = [];
const queue = new Queue<DeliveryJob>(QUEUE, {
  connection: { url: process.env.REDIS_URL ?? '' },
  defaultJobOptions: {
    attempts: 5,
    backoff: { type: 'exponential', delay: 1_000 },
    removeOnComplete: true,
    removeOnFail: 1_000,
  },
});

const app = express();
app.use(express.json({ limit: '10mb' }));
app.post('/v1/status-events', async (request, response) => {
  const events = [request.body as StatusEvent | StatusEvent[]].flat();
  await queue.addBulk(
    events.flatMap((event) => {
      const body = bodyOf(event);
      return urls.map((url, subscriber) => ({
        name: 'deliver',
        data: { eventId: event.shipmentId, subscriber, url, body },
      }));
    }),
  );
  response.status(202).json({ accepted: events.length });
});
const server = createServer(app);
server.listen(0, '127.0.0.1');

answer({
  port: async () => {
    await queue.waitUntilReady();
    return (server.address() as AddressInfo).port;
  },
  subscribe: (given: readonly string[]) => {
    urls = given;
  },
});
