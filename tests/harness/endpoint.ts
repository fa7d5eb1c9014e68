import {
  type Answer,
  type ReceivedRequest,
  type Receiver,
  type Script,
  startReceiver,
} from '@waybill/shared/testing/receiver';

/** What an endpoint decided to answer to one request. The answer of a request it still thinks about is missing. */
export interface LoggedRequest extends ReceivedRequest {
  /** `Idempotency-Key`, null if there was none. */
  readonly key: string | null;
  /** `Waybill-Attempt`, NaN if there was none. */
  readonly attempt: number;
  /** The final status of the answer; null when it has none, such as a reset, or is not decided yet. */
  readonly answered: number | null;
}

/** A subscriber's endpoint: a real server that keeps what it received and what it said. */
export interface Endpoint {
  readonly receiver: Receiver;
  /** Everything received so far, in order. */
  log(): LoggedRequest[];
  /** Changes how requests from now on are answered. */
  respond(script: Script): void;
}

export async function startEndpoint(script: Script = { status: 200 }): Promise<Endpoint> {
  const answers = new Map<number, Answer>();
  const logged = (inner: Script) => async (request: ReceivedRequest) => {
    const answer = await choose(inner, request);
    answers.set(request.number, answer);
    return answer;
  };
  const receiver = await startReceiver(logged(script));
  return {
    receiver,
    log: () => receiver.requests.map((request) => logEntry(request, answers.get(request.number))),
    respond: (next) => receiver.respond(logged(next)),
  };
}

function choose(script: Script, request: ReceivedRequest): Answer | Promise<Answer> {
  if (typeof script === 'function') return script(request);
  const list = (Array.isArray(script) ? script : [script]) as readonly Answer[];
  return list[request.number - 1] ?? list.at(-1) ?? { status: 200 };
}

function logEntry(request: ReceivedRequest, answer: Answer | undefined): LoggedRequest {
  return {
    ...request,
    key: request.headers['idempotency-key'] ?? null,
    attempt: Number(request.headers['waybill-attempt'] ?? Number.NaN),
    answered: answer === undefined ? null : finalStatus(answer),
  };
}

/** The status a client ends up with: interim responses are passed over. */
function finalStatus(answer: Answer): number | null {
  if (typeof answer === 'string') return null;
  if ('status' in answer) return answer.status;
  const text = 'raw' in answer ? answer.raw : 'drip' in answer ? answer.drip : answer.endless;
  const statuses = [...text.toString('latin1').matchAll(/HTTP\/1\.1 (\d{3})/g)].map((match) =>
    Number(match[1]),
  );
  return statuses.find((status) => status >= 200) ?? null;
}
