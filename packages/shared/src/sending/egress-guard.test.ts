import type { LookupAddress } from 'node:dns';
import type { TlsOptions } from 'node:tls';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { parseEgressPolicy } from '../domain/egress-policy.ts';
import { type Certificate, createSelfSignedCertificate } from '../testing/certificate.ts';
import { type Receiver, startReceiver } from '../testing/receiver.ts';
import { createGuardedConnector, type Lookup, systemLookup } from './egress-guard.ts';
import { type ClientTls, createSender, type Sender, type SendRequest } from './send.ts';

const HOST = 'hooks.example.com';
const LOOPBACK: LookupAddress = { address: '127.0.0.1', family: 4 };

let certificate: Certificate;
let open = new AsyncDisposableStack();

beforeAll(async () => {
  certificate = await createSelfSignedCertificate([HOST]);
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await open.disposeAsync();
  open = new AsyncDisposableStack();
});

async function receiving(tls: TlsOptions = {}): Promise<Receiver> {
  return open.use(await startReceiver({ status: 200 }, { tls: { ...certificate, ...tls } }));
}

function sending(allow: string, lookup?: Lookup): Sender {
  const sender = createSender({
    policy: parseEgressPolicy(allow),
    userAgent: 'Waybill/1',
    connectionsPerOrigin: 4,
    ...(lookup === undefined ? {} : { lookup }),
  });
  open.defer(() => sender.close());
  return sender;
}

function trusting(ca: Certificate): ClientTls {
  return { ca: ca.cert, certificate: null, key: null };
}

function request(url: string, overrides: Partial<SendRequest> = {}): SendRequest {
  return {
    url,
    headers: {},
    body: Buffer.from('{}'),
    timeoutMs: 5000,
    connectTimeoutMs: 2000,
    tls: trusting(certificate),
    ...overrides,
  };
}

const BLOCKED = {
  leftAt: null,
  remoteAddress: null,
  observation: { kind: 'failure', phase: 'before_write', reason: 'egress_blocked' },
};

describe('the address of a name', () => {
  it('is checked, connected to, and keeps SNI, Host and the certificate check by name', async () => {
    const asked: string[] = [];
    const receiver = await receiving({
      SNICallback: (servername, callback) => {
        asked.push(servername);
        callback(null);
      },
    });
    const sender = sending(receiver.authority, async () => [LOOPBACK]);
    const result = await sender.send(request(receiver.url('/', HOST)));

    expect(result).toMatchObject({ remoteAddress: '127.0.0.1', observation: { statusCode: 200 } });
    expect(asked).toEqual([HOST]);
    expect(receiver.requests[0]?.headers.host).toBe(`${HOST}:${receiver.port}`);
  });

  it.each([
    ['after a good one', [LOOPBACK, { address: '10.0.0.5', family: 4 }]],
    ['before a good one', [{ address: '169.254.169.254', family: 4 }, LOOPBACK]],
    ['in IPv6', [LOOPBACK, { address: '::ffff:169.254.169.254', family: 6 }]],
    ['that is no address at all', [LOOPBACK, { address: '127.1', family: 4 }]],
  ])('refuses the name for one forbidden address %s', async (_name, addresses) => {
    const receiver = await receiving();
    const sender = sending(receiver.authority, async () => addresses);
    expect(await sender.send(request(receiver.url('/', HOST)))).toMatchObject(BLOCKED);
    expect(receiver.connections).toHaveLength(0);
  });

  it('is checked again at every new connection, not only at the first', async () => {
    const receiver = await receiving();
    let addresses = [LOOPBACK];
    const sender = sending(receiver.authority, async () => addresses);
    const url = receiver.url('/', HOST);
    expect(await sender.send(request(url))).toMatchObject({ observation: { statusCode: 200 } });

    addresses = [{ address: '169.254.169.254', family: 4 }];
    // The open connection was checked when it was made, and no name can move it.
    expect(await sender.send(request(url))).toMatchObject({ observation: { statusCode: 200 } });
    receiver.respond('close');
    await sender.send(request(url));
    expect(await sender.send(request(url))).toMatchObject(BLOCKED);
    expect(receiver.connections).toHaveLength(1);
  });

  it('that resolves only after the deadline leads to a connection on which nothing is sent', async () => {
    const receiver = await receiving();
    let answer: (addresses: LookupAddress[]) => void = () => {};
    const sender = sending(receiver.authority, () => new Promise((resolve) => (answer = resolve)));
    const result = await sender.send(request(receiver.url('/', HOST), { timeoutMs: 100 }));
    expect(result).toMatchObject({
      leftAt: null,
      observation: { kind: 'failure', phase: 'before_write', reason: 'timeout' },
    });

    answer([LOOPBACK]);
    await vi.waitUntil(() => receiver.connections.length === 1);
    await receiver.connections[0]?.closed;
    expect(receiver.requests).toHaveLength(0);
  });

  it('that does not exist is a failure of its own', async () => {
    const failing = sending('', async () => {
      throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
    });
    const empty = sending('', async () => []);
    for (const sender of [failing, empty]) {
      expect(await sender.send(request(`https://${HOST}/`))).toMatchObject({
        leftAt: null,
        observation: { kind: 'failure', phase: 'before_write', reason: 'dns' },
      });
    }
  });

  it('is asked for once by all that need it at the same time, and asked for again later', async () => {
    const receiver = await receiving();
    let asked = 0;
    let answer: (addresses: LookupAddress[]) => void = () => {};
    const sender = sending(receiver.authority, () => {
      asked++;
      return new Promise((resolve) => {
        answer = resolve;
      });
    });
    const send = () => sender.send(request(receiver.url('/', HOST)));
    for (const round of [1, 2]) {
      const sends = Array.from({ length: 4 }, send);
      await vi.waitUntil(() => asked === round);
      answer([LOOPBACK]);
      for (const { observation } of await Promise.all(sends)) expect(observation.kind).toBe('response');
      expect(asked).toBe(round);
      receiver.respond({ status: 200, headers: { connection: 'close' } });
      await Promise.all(Array.from({ length: 4 }, send));
      receiver.respond({ status: 200 });
    }
    expect(receiver.connections).toHaveLength(8);
  });

  it('is asked of the system by default', async () => {
    const receiver = open.use(await startReceiver());
    const sender = sending('localhost');
    const result = await sender.send(request(receiver.url('/', 'localhost')));
    expect(result).toMatchObject({ observation: { statusCode: 200 } });
  });
});

describe('a literal address', () => {
  it.each([
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f.1',
    '[::ffff:127.0.0.1]',
    '[::1]',
    '0.0.0.0',
    'localhost',
  ])('https://%s is refused and nothing connects', async (host) => {
    const receiver = await receiving();
    const sender = sending('');
    expect(await sender.send(request(receiver.url('/', host)))).toMatchObject(BLOCKED);
    expect(receiver.connections).toHaveLength(0);
  });

  it('is refused by the connector itself, whoever asks it to connect', async () => {
    const receiver = await receiving();
    const connect = createGuardedConnector({
      policy: parseEgressPolicy(''),
      lookup: systemLookup,
      port: receiver.port,
      connectTimeoutMs: 1000,
      secureContext: undefined,
    });
    for (const protocol of ['http:', 'https:']) {
      const target = {
        hostname: '127.0.0.1',
        host: receiver.authority,
        protocol,
        port: String(receiver.port),
      };
      const error = await new Promise((resolve) => connect(target, (...[failure]) => resolve(failure)));
      expect(error).toMatchObject({ reason: 'egress_blocked' });
    }
    expect(receiver.connections).toHaveLength(0);
  });

  it('on the allow list with another port is refused', async () => {
    const receiver = await receiving();
    const sender = sending(`127.0.0.1:${receiver.port + 1}`);
    expect(await sender.send(request(receiver.url()))).toMatchObject(BLOCKED);
    expect(receiver.connections).toHaveLength(0);
  });
});

describe('plain http', () => {
  it('to a name that is not on the allow list is refused, though its address is', async () => {
    const receiver = open.use(await startReceiver());
    const sender = sending(receiver.authority, async () => [LOOPBACK]);
    expect(await sender.send(request(receiver.url('/', HOST)))).toMatchObject(BLOCKED);
    expect(receiver.connections).toHaveLength(0);
  });
});

describe('TLS', () => {
  const refused = { leftAt: null, observation: { kind: 'failure', phase: 'before_write', reason: 'tls' } };

  async function sendTo(receiver: Receiver, overrides: Partial<SendRequest> = {}) {
    const sender = sending(receiver.authority, async () => [LOOPBACK]);
    return sender.send(request(receiver.url('/', HOST), overrides));
  }

  it('refuses a self-signed certificate, also when the environment says not to verify', async () => {
    const receiver = await receiving();
    const { tls: _trust, ...untrusting } = request(receiver.url('/', HOST));
    for (const setting of ['1', '0']) {
      vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', setting);
      const sender = sending(receiver.authority, async () => [LOOPBACK]);
      expect(await sender.send(untrusting)).toMatchObject(refused);
    }
    expect(receiver.requests).toHaveLength(0);
  });

  it('refuses a trusted certificate for another name', async () => {
    const other = await createSelfSignedCertificate(['other.example.com']);
    const receiver = await receiving(other);
    expect(await sendTo(receiver, { tls: trusting(other) })).toMatchObject(refused);
    expect(receiver.requests).toHaveLength(0);
  });

  it('below 1.2 is refused', async () => {
    const receiver = await receiving({
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.1',
      ciphers: 'DEFAULT:@SECLEVEL=0',
    });
    expect(await sendTo(receiver)).toMatchObject(refused);
    expect(receiver.requests).toHaveLength(0);
  });

  it('that never shakes hands ends at the connect timeout', async () => {
    const silent = open.use(await startReceiver('never'));
    const before = performance.now();
    const sender = sending(silent.authority, async () => [LOOPBACK]);
    const url = `https://${HOST}:${silent.port}/`;
    const { observation, endedAt } = await sender.send(request(url, { connectTimeoutMs: 300 }));

    expect(observation).toMatchObject({ phase: 'before_write', reason: 'connect_timeout' });
    expect(endedAt - before).toBeGreaterThanOrEqual(299);
    expect(endedAt - before).toBeLessThan(2000);
    await silent.connections[0]?.closed;
  });

  it('speaks HTTP/1.1 to a server that would rather speak HTTP/2', async () => {
    const receiver = await receiving({ ALPNProtocols: ['h2', 'http/1.1'] });
    expect(await sendTo(receiver)).toMatchObject({ observation: { statusCode: 200 } });
  });

  it('shows the client certificate to a server that asks for one, on connections of its own', async () => {
    const client = await createSelfSignedCertificate(['client.example.com']);
    const receiver = await receiving({ requestCert: true, rejectUnauthorized: true, ca: client.cert });
    const sender = sending(receiver.authority, async () => [LOOPBACK]);
    const url = receiver.url('/', HOST);
    const own = { ca: certificate.cert, certificate: client.cert, key: client.key };

    expect(await sender.send(request(url, { tls: own }))).toMatchObject({ observation: { statusCode: 200 } });
    // The connection above is free and would serve, were it not somebody else's.
    expect((await sender.send(request(url))).observation.kind).toBe('failure');
    expect(receiver.requests).toHaveLength(1);
  });

  it('with a client key that cannot be read is not tried, and the key is not told', async () => {
    const receiver = await receiving();
    const tls = { ca: certificate.cert, certificate: certificate.cert, key: 'secret-key-material' };
    const result = await sendTo(receiver, { tls });
    expect(result.observation).toMatchObject({ phase: 'before_write', reason: 'auth_unavailable' });
    expect(JSON.stringify(result)).not.toContain('secret-key-material');
    expect(receiver.connections).toHaveLength(0);
  });
});
