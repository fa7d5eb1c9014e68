import { type AuthPolicy, partsOf, type SingleAuth } from '../../contracts/auth/auth-policy.ts';
import type { OAuth2Auth } from '../../contracts/auth/oauth2.ts';
import type { ClientTls } from '../send.ts';
import { SendFailure } from '../send-failure.ts';
import type { AccessTokens } from './access-tokens.ts';
import { type SignedContent, signatureHeader } from './signature.ts';

/** What is known of a request when it is to be authenticated. */
export interface Unproven {
  readonly url: string;
  readonly id: string;
  readonly body: Buffer;
  /** The present time, asked for once all that takes time is done. */
  readonly now: () => Date;
  /** How long may be waited for a token, in milliseconds. */
  readonly withinMs: number;
  readonly signal: AbortSignal | undefined;
}

/** What a policy adds to a request. */
export interface Proof {
  /** With `webhook-id` and `webhook-timestamp`, signed or not. */
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: ClientTls | undefined;
  /** The access token that was used and what it came from. */
  readonly token: { readonly auth: OAuth2Auth; readonly value: string } | null;
  /** What of it nobody else may see, in each form in which it is sent. */
  readonly secrets: readonly string[];
}

/**
 * The one place where a subscriber's auth policy is applied. All of it or nothing: there is no way to send with a part
 * of the policy.
 *
 * @throws SendFailure when it cannot be applied; nothing must be sent then
 */
export async function applyAuth(policy: AuthPolicy, request: Unproven, tokens: AccessTokens): Promise<Proof> {
  const parts = partsOf<SingleAuth>(policy);
  const oauth2 = parts.find((part) => part.type === 'oauth2');
  const token =
    oauth2 === undefined
      ? null
      : { auth: oauth2, value: await tokens.get(oauth2, request.withinMs, request.signal) };

  const now = request.now();
  const timestamp = String(Math.floor(now.getTime() / 1000));
  const content: SignedContent = { id: request.id, timestamp, body: request.body };
  // Without a prototype, so that no name means anything but itself.
  const headers: Record<string, string> = Object.assign(Object.create(null), {
    'webhook-id': request.id,
    'webhook-timestamp': timestamp,
  });
  const secrets: string[] = [];
  let tls: ClientTls | undefined;
  for (const part of parts) {
    switch (part.type) {
      case 'basic': {
        const credential = Buffer.from(`${part.username}:${part.password}`).toString('base64');
        headers.authorization = `Basic ${credential}`;
        secrets.push(credential, part.password);
        break;
      }
      case 'bearer':
        headers.authorization = `Bearer ${part.token}`;
        secrets.push(part.token);
        break;
      case 'api-key':
        headers[part.header.toLowerCase()] = part.value;
        secrets.push(part.value);
        break;
      case 'signature':
        headers['webhook-signature'] = signatureHeader(part, content, now);
        break;
      case 'oauth2':
        headers.authorization = `Bearer ${token?.value}`;
        if (token) secrets.push(token.value);
        break;
      case 'mtls':
        tls = clientTls(part, request.url);
        break;
      default:
        throw new SendFailure(
          'auth_unavailable',
          `auth of type ${(part satisfies never as SingleAuth).type} is not known`,
        );
    }
  }
  return { headers, tls, token, secrets };
}

function clientTls(part: Extract<SingleAuth, { type: 'mtls' }>, url: string): ClientTls {
  if (!url.startsWith('https:')) {
    throw new SendFailure('auth_unavailable', 'a client certificate can be shown over https only');
  }
  return { certificate: part.certificate, key: part.key, ca: part.ca ?? null };
}
