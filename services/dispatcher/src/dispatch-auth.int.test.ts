/** Authentication as deliveries show it: what the record says, and that nothing leaves without it. */

import { randomBytes } from 'node:crypto';
import { newSigningSecret } from '@waybill/shared/contracts/auth/signature';
import { CredentialVault, keyIdsOf } from '@waybill/shared/sealing/credential-vault';
import { KeyRing } from '@waybill/shared/sealing/key-ring';
import { startAuthorizationServer } from '@waybill/shared/testing/authorization-server';
import { startReceiver } from '@waybill/shared/testing/receiver';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type Bench, openBench } from './testing/bench.ts';

let bench: Bench;

beforeAll(async () => {
  bench = await openBench(inject('engines'));
});
afterAll(() => bench[Symbol.asyncDispose]());

describe('an attempt', () => {
  it('names the secrets it was made with, before anything is sent', async () => {
    await using receiver = await startReceiver();
    const auth = { type: 'all', of: [{ type: 'bearer', token: 'token-42' }, { type: 'signature' }] };
    const subscriber = await bench.subscribe(receiver, {}, { auth });
    const rows = await bench.owe(subscriber);
    let claimed: readonly string[] | undefined;
    receiver.respond(async () => {
      claimed = (await bench.row(rows[0] ?? { _id: '' })).attempts[0]?.keyIds;
      return { status: 200 };
    });
    await bench.worker('names').command(rows);
    const [row] = await bench.all(rows, 'delivered');
    expect(claimed).toEqual([expect.stringMatching(/^bearer:/), expect.stringMatching(/^signature:/)]);
    expect(row?.attempts[0]).toMatchObject({ keyIds: keyIdsOf(subscriber.auth), address: '127.0.0.1' });
    expect(JSON.stringify(row)).not.toContain('token-42');
  });

  it('that is refused for its token is followed at once by one with a new token', async () => {
    const client = { id: 'waybill', method: 'client_secret_post', secret: 'secret-0123456789' } as const;
    await using server = await startAuthorizationServer([client]);
    await using receiver = await startReceiver(async ({ number, headers }) => {
      if (number === 1) await server.revoke(headers.authorization);
      return { status: (await server.describe(headers.authorization)) ? 200 : 401 };
    });
    const auth = {
      type: 'oauth2',
      tokenUrl: server.tokenUrl,
      clientId: client.id,
      clientSecret: client.secret,
      clientAuth: 'post',
    };
    // The next attempt by its schedule would be in an hour; no tick runs here.
    const delivery = { backoff: { initialMs: 3_600_000 } };
    const rows = await bench.owe(await bench.subscribe(receiver, delivery, { auth }));
    await bench.worker('token').command(rows);
    const [row] = await bench.all(rows, 'delivered');
    expect(row?.attempts.map(({ outcome, statusCode }) => [outcome, statusCode])).toEqual([
      ['rejected', 401],
      ['accepted', 200],
    ]);
    expect(server.answers).toEqual([200, 200]);
  });

  it('that cannot be authenticated sends nothing, costs no attempt and says why', async () => {
    await using receiver = await startReceiver();
    const subscriber = await bench.subscribe(receiver, { maxAttempts: 1 });
    const elsewhere = new CredentialVault(new KeyRing([{ kid: 'lost', key: randomBytes(32) }]));
    const auth = await elsewhere.seal(subscriber._id, { type: 'bearer', token: 'token-42' });
    await bench.subscribers.setAuth(subscriber._id, auth, subscriber.version, 'root');
    const [row] = await bench.owe(subscriber);
    if (!row) throw new Error('there is no row');
    await bench.worker('lost').command([row]);
    const settled = await bench.reached(row, 'settled', ({ attempts }) => attempts[0]?.outcome != null);
    expect(settled.attempts[0]).toMatchObject({
      outcome: 'not_sent',
      reason: 'secret_key_missing',
      detail: expect.stringContaining('lost'),
      leftAt: null,
    });
    expect(settled).toMatchObject({ state: 'pending', failures: 0 });
    expect(receiver.connections).toHaveLength(0);
  });

  it('carries as much of the event as its row says, the same bytes each time, and keeps what the terms say', async () => {
    await using receiver = await startReceiver([
      { status: 500, body: 'first' },
      { status: 200, body: 'second' },
    ]);
    const delivery = {
      keepResponse: 'text',
      backoff: { delaysMs: [0], jitter: 0 },
      headers: { 'X-Tenant': '7' },
    };
    const rows = await bench.owe(await bench.subscribe(receiver, delivery), 1, { payload: 'id-only' });
    await bench.worker('terms').command(rows);
    const [row] = await bench.all(rows, 'delivered');
    expect(row?.attempts.map(({ response }) => response?.text)).toEqual(['first', 'second']);
    const bodies = receiver.requests.map(({ body }) => body.toString());
    expect(bodies[0]).toBe(bodies[1]);
    expect(JSON.parse(bodies[0] ?? '').data).toEqual({
      shipmentId: row?.shipmentId,
      eventVersion: row?.eventVersion,
    });
    expect(bodies[0]).not.toContain('in_transit');
    expect(receiver.requests[0]?.headers['x-tenant']).toBe('7');
  });
});

describe('a signing secret', () => {
  it('that was made without being given is good for signing', async () => {
    await using receiver = await startReceiver();
    const rows = await bench.owe(
      await bench.subscribe(receiver, {}, { auth: { type: 'signature', secret: newSigningSecret('whsk_') } }),
    );
    await bench.worker('made').command(rows);
    await bench.all(rows, 'delivered');
    expect(receiver.requests[0]?.headers['webhook-signature']).toMatch(/^v1a,/);
  });
});
