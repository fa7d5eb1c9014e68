import { createPrivateKey, createPublicKey, type KeyObject, randomBytes } from 'node:crypto';
import { z } from 'zod';

/** Bytes of an HMAC secret: as Standard Webhooks 1.0.0 has it. */
const HMAC_BYTES = { min: 24, max: 64, made: 32 };
/** DER of PKCS #8 around an ed25519 seed (RFC 8410). */
const PKCS8_ED25519 = Buffer.from('302e020100300506032b657004220420', 'hex');

const HMAC_PREFIX = 'whsec_';
const ED25519_PREFIX = 'whsk_';

function base64Bytes(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64');
  // Node skips what is not base64; written again, what was skipped shows.
  return bytes.toString('base64') === text.padEnd(Math.ceil(text.length / 4) * 4, '=') ? bytes : null;
}

/** What a secret signs with. */
export type SigningKey =
  | { readonly algorithm: 'hmac-sha256'; readonly key: Buffer }
  | { readonly algorithm: 'ed25519'; readonly key: KeyObject };

/** Reads `whsec_` (HMAC, 24 to 64 bytes) and `whsk_` (ed25519: a seed of 32 bytes, alone or with its public key). */
export function signingKey(secret: string): SigningKey | null {
  if (secret.startsWith(HMAC_PREFIX)) {
    const key = base64Bytes(secret.slice(HMAC_PREFIX.length));
    const fits = key !== null && key.length >= HMAC_BYTES.min && key.length <= HMAC_BYTES.max;
    return fits ? { algorithm: 'hmac-sha256', key } : null;
  }
  if (!secret.startsWith(ED25519_PREFIX)) return null;
  const bytes = base64Bytes(secret.slice(ED25519_PREFIX.length));
  if (bytes === null || (bytes.length !== 32 && bytes.length !== 64)) return null;
  const der = Buffer.concat([PKCS8_ED25519, bytes.subarray(0, 32)]);
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  if (bytes.length === 64 && !rawPublicKey(key).equals(bytes.subarray(32))) return null;
  return { algorithm: 'ed25519', key };
}

function rawPublicKey(key: KeyObject): Buffer {
  return createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32);
}

/** What a receiver verifies with: `whpk_…` for ed25519; null for HMAC, where that is the secret itself. */
export function publicKeyOf(secret: string): string | null {
  const key = signingKey(secret);
  return key?.algorithm === 'ed25519' ? `whpk_${rawPublicKey(key.key).toString('base64')}` : null;
}

/** A random secret of the same kind as `like`; HMAC if that is not given. */
export function newSigningSecret(like?: string): string {
  const ed25519 = like?.startsWith(ED25519_PREFIX) === true;
  return (ed25519 ? ED25519_PREFIX : HMAC_PREFIX) + randomBytes(HMAC_BYTES.made).toString('base64');
}

export const signingSecret = z
  .string()
  .max(256)
  .refine(
    (text) => signingKey(text) !== null,
    'must be whsec_ and the base64 of 24 to 64 bytes, or whsk_ and the base64 of an ed25519 key',
  );

/** Standard Webhooks signatures. Without a secret the present one stays, or one is made and returned once. */
export const signatureAuth = z.strictObject({
  type: z.literal('signature'),
  secret: signingSecret.optional(),
});

/** As it is kept: with the secrets that a rotation leaves valid for a while. */
export interface SignatureAuth {
  readonly type: 'signature';
  readonly secret: string;
  readonly previous: readonly { readonly secret: string; readonly expiresAt: Date }[];
}
