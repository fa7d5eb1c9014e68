import { type AuthPolicy, partsOf, type SingleAuth } from '../contracts/auth/auth-policy.ts';
import { certificatesIn } from '../contracts/auth/mtls.ts';
import { publicKeyOf } from '../contracts/auth/signature.ts';

/** What may be seen of a secret. */
export interface ShownSecret {
  /** Tells this secret from another; see `KeyRing.fingerprint`. */
  readonly fingerprint: string;
}

/** A policy as people may see it: every secret is replaced by its fingerprint. */
export interface ShownAuth {
  readonly type: AuthPolicy['type'];
  readonly [field: string]: unknown;
}

type Fingerprint = (secret: string) => string;

/** The policy without its secrets, and the names of the secrets for the record of an attempt (`bearer:1a2b3c4d`). */
export function showAuth(
  policy: AuthPolicy,
  fingerprint: Fingerprint,
): { shown: ShownAuth; keyIds: string[] } {
  const parts = partsOf<SingleAuth>(policy);
  const keyIds = parts.map((part) => `${part.type}:${fingerprint(secretOf(part))}`);
  if (policy.type === 'none') return { shown: { type: 'none' }, keyIds };
  if (policy.type === 'all') {
    return { shown: { type: 'all', of: parts.map((part) => showPart(part, fingerprint)) }, keyIds };
  }
  return { shown: showPart(policy, fingerprint), keyIds };
}

function secretOf(part: SingleAuth): string {
  switch (part.type) {
    case 'basic':
      return part.password;
    case 'bearer':
      return part.token;
    case 'api-key':
      return part.value;
    case 'signature':
      return part.secret;
    case 'oauth2':
      return part.clientSecret ?? part.privateKey ?? '';
    case 'mtls':
      return part.key;
  }
}

function showPart(part: SingleAuth, fingerprint: Fingerprint): ShownAuth {
  const secret: ShownSecret = { fingerprint: fingerprint(secretOf(part)) };
  switch (part.type) {
    case 'basic':
      return { type: part.type, username: part.username, password: secret };
    case 'bearer':
      return { type: part.type, token: secret };
    case 'api-key':
      return { type: part.type, header: part.header, value: secret };
    case 'signature': {
      const publicKey = publicKeyOf(part.secret);
      const previous = part.previous.map((old) => ({
        fingerprint: fingerprint(old.secret),
        expiresAt: old.expiresAt,
      }));
      return { type: part.type, secret: publicKey === null ? secret : { ...secret, publicKey }, previous };
    }
    case 'oauth2': {
      const { clientSecret, privateKey, ...open } = part;
      return { ...open, [privateKey === undefined ? 'clientSecret' : 'privateKey']: secret };
    }
    case 'mtls':
      return {
        type: part.type,
        certificate: showCertificate(part.certificate),
        key: secret,
        ...(part.ca === undefined ? {} : { ca: showCertificate(part.ca) }),
      };
  }
}

/** A certificate is public; what people look for is whose it is and when it ends. */
function showCertificate(pem: string): object {
  const certificate = certificatesIn(pem)?.[0];
  if (certificate === undefined) return {};
  const { subject, issuer, validToDate, fingerprint256 } = certificate;
  return { subject, issuer, validTo: validToDate, sha256: fingerprint256 };
}
