import type { AuthPolicy } from '../contracts/auth/auth-policy.ts';
import type { DeliveryPolicy } from '../contracts/subscriber.ts';
import type { KeptResponse } from '../domain/delivery.ts';
import type { CredentialVault, SealedAuth } from '../sealing/credential-vault.ts';
import { UnsealError } from '../sealing/key-ring.ts';
import { AccessTokens } from './auth/access-tokens.ts';
import { applyAuth } from './auth/apply.ts';
import { keepResponse, MAX_KEPT_BYTES } from './kept-response.ts';
import type { Sender, SendResult } from './send.ts';
import { SendFailure } from './send-failure.ts';

/** Opened policies that are held, at most; beyond that the one held longest goes. */
const MAX_OPENED = 10_000;

/** Whom to send to and on which terms. */
export interface Recipient {
  /** The subscriber's id. */
  readonly _id: string;
  readonly url: string;
  readonly auth: SealedAuth;
  readonly delivery: Pick<DeliveryPolicy, 'timeoutMs' | 'connectTimeoutMs' | 'headers' | 'keepResponse'>;
}

export interface Message {
  /** `webhook-id` and `idempotency-key`. */
  readonly id: string;
  readonly body: Buffer;
  /** All but what the subscriber's terms and its auth add. */
  readonly headers: Readonly<Record<string, string>>;
  /** The time to stamp and to judge expiry by. */
  readonly now: () => Date;
}

export interface SubscriberSendResult extends SendResult {
  /** An access token was used: if it was not accepted, a new one comes with the next try. */
  readonly usedToken: boolean;
  /** What the subscriber's terms keep of the response. */
  readonly kept: KeptResponse | null;
}

/**
 * Sends to subscribers on their terms: headers, timeouts, authentication. If the auth policy cannot be applied in full
 * nothing is sent.
 */
export class SubscriberSender {
  readonly #sender: Sender;
  readonly #vault: CredentialVault;
  readonly #tokens: AccessTokens;
  readonly #opened = new Map<string, { readonly sealed: string; readonly policy: Promise<AuthPolicy> }>();

  constructor(sender: Sender, vault: CredentialVault) {
    this.#sender = sender;
    this.#vault = vault;
    this.#tokens = new AccessTokens(sender);
  }

  /**
   * POSTs once, as `Sender.send` does. A token is fetched first where the policy wants one; that too counts towards the
   * subscriber's timeout.
   */
  async send(recipient: Recipient, message: Message, signal?: AbortSignal): Promise<SubscriberSendResult> {
    const began = performance.now();
    const { url, delivery } = recipient;
    const { id, body, now } = message;
    try {
      const policy = await this.#open(recipient);
      const unproven = { url, id, body, now, withinMs: delivery.timeoutMs, signal };
      const proof = await applyAuth(policy, unproven, this.#tokens);
      const timeoutMs = Math.max(1, delivery.timeoutMs - (performance.now() - began));
      const result = await this.#sender.send(
        {
          url,
          headers: { ...delivery.headers, ...message.headers, 'idempotency-key': id, ...proof.headers },
          body,
          timeoutMs,
          connectTimeoutMs: Math.min(delivery.connectTimeoutMs, delivery.timeoutMs),
          keepBytes: delivery.keepResponse === 'off' ? 0 : MAX_KEPT_BYTES,
          ...(proof.tls === undefined ? {} : { tls: proof.tls }),
        },
        signal,
      );
      if (proof.token !== null && wasRefused(result))
        this.#tokens.forget(proof.token.auth, proof.token.value);
      const kept = keepResponse(result, delivery.keepResponse, proof.secrets);
      return { ...result, usedToken: proof.token !== null, kept };
    } catch (error) {
      if (!(error instanceof SendFailure)) throw error;
      return { ...unsent(error), usedToken: false, kept: null };
    }
  }

  /** Refuses new sends, waits for those under way (each has its deadline), then closes the connections. */
  async close(): Promise<void> {
    this.#tokens.close();
    await this.#sender.close();
  }

  /** @throws SendFailure */
  async #open({ _id, auth }: Recipient): Promise<AuthPolicy> {
    if (auth.type === 'none') return { type: 'none' };
    const known = this.#opened.get(_id);
    try {
      if (known?.sealed === auth.sealed) return await known.policy;
      const policy = this.#vault.open(_id, auth);
      this.#opened.delete(_id);
      this.#opened.set(_id, { sealed: auth.sealed, policy });
      for (const oldest of this.#opened.keys()) {
        if (this.#opened.size <= MAX_OPENED) break;
        this.#opened.delete(oldest);
      }
      return await policy;
    } catch (error) {
      if (!(error instanceof UnsealError)) throw error;
      const reason = error.missingKid === null ? 'auth_unavailable' : 'secret_key_missing';
      throw new SendFailure(reason, `the credential cannot be opened: ${error.message}`);
    }
  }
}

function wasRefused({ observation }: SendResult): boolean {
  return (
    observation.kind === 'response' && (observation.statusCode === 401 || observation.statusCode === 407)
  );
}

function unsent(failure: SendFailure): SendResult {
  return {
    observation: { kind: 'failure', phase: 'before_write', reason: failure.reason, detail: failure.message },
    leftAt: null,
    endedAt: performance.now(),
    remoteAddress: null,
    bytesRead: 0,
    body: Buffer.alloc(0),
    contentType: null,
  };
}
