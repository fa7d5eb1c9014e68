import { connect } from 'node:net';

const FIND_COORDINATOR = 10;
const VERSION = 2;
const GROUP = 'waybill';
const TIMEOUT_MS = 2000;

/**
 * Whether the broker at that port of 127.0.0.1 can lead consumer groups. Asking makes a new broker create the topic
 * that holds their offsets, so that the first consumers need not wait for it. Spoken by hand: this side of the code
 * has no Kafka client, and it is one request.
 */
export function canLeadGroups(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', timeout: TIMEOUT_MS });
    let answer = Buffer.alloc(0);
    const end = (able: boolean): void => {
      socket.destroy();
      resolve(able);
    };
    socket.once('connect', () => socket.write(findCoordinatorRequest()));
    socket.on('data', (chunk) => {
      answer = Buffer.concat([answer, chunk]);
      const error = errorOf(answer);
      if (error !== undefined) end(error === 0);
    });
    for (const event of ['error', 'timeout', 'close'] as const) socket.once(event, () => end(false));
  });
}

function findCoordinatorRequest(): Buffer {
  const key = Buffer.from(GROUP);
  const body = Buffer.alloc(13 + key.length);
  body.writeInt16BE(FIND_COORDINATOR, 0);
  body.writeInt16BE(VERSION, 2);
  // Correlation id 0, no client id, then the key of a group (type 0).
  body.writeInt16BE(-1, 8);
  body.writeInt16BE(key.length, 10);
  key.copy(body, 12);
  const size = Buffer.alloc(4);
  size.writeInt32BE(body.length, 0);
  return Buffer.concat([size, body]);
}

/** After size, correlation id and throttle time comes the error code; undefined until it has arrived. */
function errorOf(answer: Buffer): number | undefined {
  return answer.length < 14 ? undefined : answer.readInt16BE(12);
}
