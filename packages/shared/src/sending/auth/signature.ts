import { createHmac, sign } from 'node:crypto';
import { type SignatureAuth, signingKey } from '../../contracts/auth/signature.ts';
import { SendFailure } from '../send-failure.ts';

/** What is signed: exactly what is sent. */
export interface SignedContent {
  readonly id: string;
  /** Unix seconds, as `webhook-timestamp` has them. */
  readonly timestamp: string;
  readonly body: Buffer;
}

/**
 * The value of `webhook-signature` (Standard Webhooks 1.0.0): one signature for each secret that is valid at `now`, the
 * present one first. `v1` is HMAC-SHA256, `v1a` ed25519.
 *
 * By node:crypto and not by the package `standardwebhooks`, which signs text where bytes are sent and knows no ed25519;
 * tests verify with that package.
 */
export function signatureHeader(auth: SignatureAuth, content: SignedContent, now: Date): string {
  const valid = auth.previous.filter(({ expiresAt }) => expiresAt > now).map(({ secret }) => secret);
  const signed = Buffer.concat([Buffer.from(`${content.id}.${content.timestamp}.`), content.body]);
  return [auth.secret, ...valid].map((secret) => signatureBy(secret, signed)).join(' ');
}

function signatureBy(secret: string, signed: Buffer): string {
  const key = signingKey(secret);
  if (key === null) throw new SendFailure('auth_unavailable', 'the signing secret cannot be read');
  if (key.algorithm === 'ed25519') return `v1a,${sign(null, signed, key.key).toString('base64')}`;
  return `v1,${createHmac('sha256', key.key).update(signed).digest('base64')}`;
}
