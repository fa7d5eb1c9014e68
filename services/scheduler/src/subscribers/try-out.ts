import { randomBytes } from 'node:crypto';
import { renderTestCloudEvent } from '@waybill/shared/contracts/cloudevents';
import type { testAnswer } from '@waybill/shared/contracts/http-answers';
import { EVENT_CONTENT_TYPE } from '@waybill/shared/contracts/webhook';
import { adviceFor } from '@waybill/shared/domain/advice';
import { judge } from '@waybill/shared/domain/outcome';
import { keyIdsOf } from '@waybill/shared/sealing/credential-vault';
import type { SubscriberSender } from '@waybill/shared/sending/subscriber-sender';
import type { DatabaseClock } from '@waybill/shared/stores/database-clock';
import type { SubscriberRow } from '@waybill/shared/stores/subscribers';
import type { z } from 'zod';

interface TryOutDeps {
  readonly sender: SubscriberSender;
  readonly clock: DatabaseClock;
}

/**
 * Sends one test event on the subscriber's terms, as a delivery would be sent, and says what came of it. No delivery is
 * made and none is held back or let go by it; a subscriber that is disabled or in quarantine can be tried as well.
 */
export async function tryOut(
  subscriber: SubscriberRow,
  { sender, clock }: TryOutDeps,
): Promise<z.output<typeof testAnswer>> {
  const id = `test_${randomBytes(24).toString('base64url')}`;
  const sentAt = clock.now();
  const began = performance.now();
  const body = Buffer.from(renderTestCloudEvent(id, sentAt));
  const headers = { 'content-type': EVENT_CONTENT_TYPE, 'waybill-attempt': '1', 'waybill-test': 'true' };
  const { observation, endedAt, remoteAddress, kept } = await sender.send(subscriber, {
    id,
    headers,
    body,
    now: () => clock.now(),
  });
  const { outcome, reason } = judge(observation, {
    previousUnknown: false,
    conflictMeans: 'retry',
    canRefreshToken: false,
  });
  return {
    outcome,
    reason,
    explanation: adviceFor(outcome, reason),
    detail: observation.kind === 'failure' ? observation.detail : null,
    statusCode: observation.kind === 'response' ? observation.statusCode : null,
    response: kept,
    idempotencyKey: id,
    sentAt,
    durationMs: Math.round(endedAt - began),
    remoteAddress,
    subscriberVersion: subscriber.version,
    keyIds: keyIdsOf(subscriber.auth),
  };
}
