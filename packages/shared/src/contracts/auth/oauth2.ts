import { createPrivateKey } from 'node:crypto';
import { z } from 'zod';
import { headerValue } from '../http-header.ts';
import { httpUrl } from '../http-url.ts';

/** How the client proves who it is to the token endpoint, by the names of the OAuth registry and their short forms. */
const CLIENT_AUTH = [
  'client_secret_basic',
  'client_secret_post',
  'private_key_jwt',
  'basic',
  'post',
] as const;
const MIN_RSA_BITS = 2048;
/** OAuth takes printable ASCII and nothing else (RFC 6749, appendix A). */
const text = headerValue(4096);

/** The JWS algorithm that a private key in PEM signs with; null for what is no key or no usable one. */
export function assertionAlgorithm(pem: string): string | null {
  try {
    const { asymmetricKeyType, asymmetricKeyDetails } = createPrivateKey(pem);
    if (asymmetricKeyType === 'ed25519') return 'Ed25519';
    if (asymmetricKeyType === 'rsa')
      return (asymmetricKeyDetails?.modulusLength ?? 0) >= MIN_RSA_BITS ? 'RS256' : null;
    const byCurve = { prime256v1: 'ES256', secp384r1: 'ES384', secp521r1: 'ES512' };
    return byCurve[asymmetricKeyDetails?.namedCurve as keyof typeof byCurve] ?? null;
  } catch {
    return null;
  }
}

/** OAuth 2.0 client credentials (RFC 6749, 4.4): an access token, fetched when needed, sent as Bearer. */
export const oauth2Auth = z
  .strictObject({
    type: z.literal('oauth2'),
    tokenUrl: httpUrl,
    clientId: text,
    clientSecret: text.optional(),
    privateKey: z
      .string()
      .max(16_384)
      .refine(
        (pem) => assertionAlgorithm(pem) !== null,
        'must be an unencrypted private key in PEM: RSA of at least 2048 bits, EC P-256, P-384 or P-521, ed25519',
      )
      .optional(),
    keyId: text.optional().describe('`kid` of the assertion that privateKey signs'),
    scope: text.optional(),
    audience: text.optional(),
    clientAuth: z.enum(CLIENT_AUTH).optional().describe('Left out: by what is given, a secret by basic'),
  })
  .superRefine(({ clientSecret, privateKey, keyId, clientAuth }, context) => {
    const fault = (field: string, message: string) =>
      context.addIssue({ code: 'custom', path: [field], message });
    if (clientSecret === undefined && privateKey === undefined)
      fault('clientSecret', 'is required, or privateKey');
    if (clientSecret !== undefined && privateKey !== undefined)
      fault('privateKey', 'must not be given beside clientSecret');
    if (clientAuth === undefined) return;
    const wantsKey = clientAuth === 'private_key_jwt';
    if (wantsKey && privateKey === undefined) fault('privateKey', 'is required for private_key_jwt');
    if (!wantsKey && privateKey !== undefined)
      fault('clientAuth', 'must be private_key_jwt for a privateKey');
    if (keyId !== undefined && privateKey === undefined) fault('keyId', 'belongs to a privateKey');
  });
export type OAuth2Auth = z.output<typeof oauth2Auth>;
