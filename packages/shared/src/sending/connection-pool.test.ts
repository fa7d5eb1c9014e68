import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { parseEgressPolicy } from '../domain/egress-policy.ts';
import { type Receiver, type Script, startReceiver } from '../testing/receiver.ts';
import { createSender, type Sender, type SendRequest } from './send.ts';

let open = new AsyncDisposableStack();

afterEach(async () => {
  await open.disposeAsync();
  open = new AsyncDisposableStack();
});

async function setUp(
  script: Script,
  connectionsPerOrigin = 8,
): Promise<{ receiver: Receiver; sender: Sender }> {
  const receiver = open.use(await startReceiver(script));
  const policy = parseEgressPolicy('127.0.0.1');
  const sender = createSender({ policy, userAgent: 'Waybill/1', connectionsPerOrigin });
  open.defer(() => sender.close());
  return { receiver, sender };
}

function request(url: string, overrides: Partial<SendRequest> = {}): SendRequest {
  return { url, headers: {}, body: Buffer.from('{}'), timeoutMs: 5000, connectTimeoutMs: 2000, ...overrides };
}

describe('connections', () => {
  it('are reused one request after the other', async () => {
    const { receiver, sender } = await setUp({ status: 200 });
    for (let n = 0; n < 20; n++) await sender.send(request(receiver.url()));
    expect(receiver.connections).toHaveLength(1);
  });

  it('are as many as the limit, and each request is sent once', async () => {
    const { receiver, sender } = await setUp({ status: 200, delayMs: 5 }, 5);
    const sends = Array.from({ length: 100 }, (_, n) => sender.send(request(receiver.url(`/${n}`))));
    const results = await Promise.all(sends);

    expect(results.every(({ observation }) => observation.kind === 'response')).toBe(true);
    expect(new Set(receiver.requests.map(({ path }) => path)).size).toBe(100);
    expect(receiver.requests).toHaveLength(100);
    expect(receiver.connections).toHaveLength(5);
  });

  it('to a slow origin keep nothing from another', async () => {
    const { receiver: slow, sender } = await setUp('never', 1);
    const fast = open.use(await startReceiver({ status: 200 }));
    const stuck = sender.send(request(slow.url(), { timeoutMs: 1000 }));
    await slow.request(1);

    const { observation } = await sender.send(request(fast.url()));
    expect(observation.kind).toBe('response');
    expect((await stuck).observation).toMatchObject({ reason: 'timeout' });
  });

  it('closed by the server while idle are replaced, without a failed request', async () => {
    const { receiver, sender } = await setUp({
      raw: 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
      ending: 'close',
    });
    for (let n = 1; n <= 3; n++) {
      const { observation } = await sender.send(request(receiver.url()));
      expect(observation).toMatchObject({ kind: 'response', statusCode: 200 });
      await receiver.connections[n - 1]?.closed;
    }
    expect(receiver.requests).toHaveLength(3);
  });
});

describe('one send is at most one request on the wire', () => {
  it('when the server reads it on a reused connection and resets', async () => {
    const { receiver, sender } = await setUp([{ status: 200 }, 'reset', { status: 200 }]);
    const first = await sender.send(request(receiver.url('/first')));
    const lost = await sender.send(request(receiver.url('/lost')));
    const after = await sender.send(request(receiver.url('/after')));

    expect(first.observation.kind).toBe('response');
    expect(lost.observation).toMatchObject({ kind: 'failure', phase: 'after_write', reason: 'reset' });
    expect(after.observation.kind).toBe('response');
    expect(receiver.requests.map(({ path, connection }) => [path, connection])).toEqual([
      ['/first', 1],
      ['/lost', 1],
      ['/after', 2],
    ]);
  });

  it('when many are lost at once while others wait for their connections', async () => {
    const { receiver, sender } = await setUp(
      ({ number }) => (number % 2 === 0 ? 'reset' : { status: 200 }),
      4,
    );
    const sends = Array.from({ length: 60 }, (_, n) => sender.send(request(receiver.url(`/${n}`))));
    const results = await Promise.all(sends);
    const answered = results.filter(({ observation }) => observation.kind === 'response');

    expect(receiver.requests).toHaveLength(60);
    expect(new Set(receiver.requests.map(({ path }) => path)).size).toBe(60);
    expect(answered).toHaveLength(30);
  });
});

describe('a request that waits for a connection', () => {
  it('is given up at its own deadline, and certainly did not leave', async () => {
    const { receiver, sender } = await setUp(['never', { status: 200 }], 1);
    const stuck = sender.send(request(receiver.url('/stuck'), { timeoutMs: 600 }));
    await receiver.request(1);
    const waited = await sender.send(request(receiver.url('/waited'), { timeoutMs: 100 }));

    expect(waited).toMatchObject({
      leftAt: null,
      observation: { kind: 'failure', phase: 'before_write', reason: 'timeout' },
    });
    await stuck;
    expect((await sender.send(request(receiver.url('/next')))).observation.kind).toBe('response');
    expect(receiver.requests.map(({ path }) => path)).toEqual(['/stuck', '/next']);
    expect(receiver.connections).toHaveLength(2);
  });

  it('is served when the one before it is over', async () => {
    const { receiver, sender } = await setUp([{ status: 200, delayMs: 50 }, { status: 202 }], 1);
    const [first, second] = await Promise.all([
      sender.send(request(receiver.url('/first'))),
      sender.send(request(receiver.url('/second'))),
    ]);
    expect(first.observation).toMatchObject({ statusCode: 200 });
    expect(second.observation).toMatchObject({ statusCode: 202 });
    expect(receiver.connections).toHaveLength(1);
  });
});

describe('a connection that cannot be made', () => {
  it('because it is refused: the request did not leave', async () => {
    const vacant = createServer().listen(0, '127.0.0.1');
    await once(vacant, 'listening');
    const address = vacant.address();
    vacant.close();
    await once(vacant, 'close');
    const port = typeof address === 'object' ? address?.port : 0;

    const { sender } = await setUp({ status: 200 });
    expect(await sender.send(request(`http://127.0.0.1:${port}/`))).toMatchObject({
      leftAt: null,
      remoteAddress: null,
      observation: { kind: 'failure', phase: 'before_write', reason: 'connect_refused' },
    });
  });

  it('to a receiver that went away: refused; once it is back: sent', async () => {
    const { receiver, sender } = await setUp({ status: 200, headers: { connection: 'close' } });
    await sender.send(request(receiver.url()));
    const { port } = receiver;
    await receiver.close();
    const refused = await sender.send(request(`http://127.0.0.1:${port}/`));
    expect(refused.observation).toMatchObject({ phase: 'before_write', reason: 'connect_refused' });

    const back = open.use(await startReceiver({ status: 204 }, { port }));
    expect((await sender.send(request(back.url()))).observation).toMatchObject({ statusCode: 204 });
  });
});

describe('taking back', () => {
  it('before the request left: it is never sent', async () => {
    const { receiver, sender } = await setUp(['never', { status: 200 }], 1);
    const stuck = sender.send(request(receiver.url('/stuck'), { timeoutMs: 300 }));
    await receiver.request(1);
    const abort = new AbortController();
    const waiting = sender.send(request(receiver.url('/waiting')), abort.signal);
    abort.abort();

    expect((await waiting).observation).toMatchObject({ phase: 'before_write', reason: 'aborted' });
    const refused = await sender.send(request(receiver.url('/late')), abort.signal);
    expect(refused.observation).toMatchObject({ phase: 'before_write', reason: 'aborted' });
    await stuck;
    await sender.send(request(receiver.url('/next')));
    expect(receiver.requests.map(({ path }) => path)).toEqual(['/stuck', '/next']);
  });

  it('after it left: it may have arrived, and the connection is dropped', async () => {
    const { receiver, sender } = await setUp('never');
    const abort = new AbortController();
    const sent = sender.send(request(receiver.url()), abort.signal);
    await receiver.request(1);
    abort.abort();
    expect((await sent).observation).toMatchObject({ phase: 'after_write', reason: 'aborted' });
    await receiver.connections[0]?.closed;
  });
});

describe('closing', () => {
  it('waits for what is under way, takes nothing more, and leaves no connection', async () => {
    const { receiver, sender } = await setUp([{ status: 200, delayMs: 100 }]);
    const underway = sender.send(request(receiver.url()));
    await receiver.request(1);
    const closed = sender.close();
    const late = await sender.send(request(receiver.url()));
    await closed;

    expect((await underway).observation).toMatchObject({ kind: 'response', statusCode: 200 });
    expect(late.observation).toMatchObject({ phase: 'before_write', reason: 'aborted' });
    expect(receiver.requests).toHaveLength(1);
    await receiver.connections[0]?.closed;
  });
});
