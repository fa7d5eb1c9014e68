import type { AuthInput, AuthPolicy, SingleAuth } from '../contracts/auth/auth-policy.ts';
import { newSigningSecret, type SignatureAuth } from '../contracts/auth/signature.ts';
import type { KeyRing } from './key-ring.ts';
import { type ShownAuth, showAuth } from './shown-auth.ts';

/** An auth policy as it is stored: what may be seen in clear, the whole under seal. */
export type SealedAuth =
  | { readonly type: 'none' }
  | {
      readonly type: Exclude<AuthPolicy['type'], 'none'>;
      readonly shown: ShownAuth;
      /** Names of the secrets, for the record of an attempt. */
      readonly keyIds: readonly string[];
      readonly sealed: string;
    };

/** Most secrets that are valid beside the present one. */
const MAX_PREVIOUS = 3;

/** A policy can be rotated only where it signs. */
export class NoSignatureError extends Error {}

export interface Completed {
  readonly policy: AuthPolicy;
  /** The signing secret that was made because none was given; to be shown once. */
  readonly madeSecret: string | null;
}

/** Seals and opens the auth policies of subscribers. Sealed content opens only for the subscriber it was sealed for. */
export class CredentialVault {
  readonly #ring: KeyRing;

  constructor(ring: KeyRing) {
    this.#ring = ring;
  }

  async seal(subscriberId: string, policy: AuthPolicy): Promise<SealedAuth> {
    if (policy.type === 'none') return { type: 'none' };
    const { shown, keyIds } = showAuth(policy, (secret) => this.#ring.fingerprint(secret));
    const sealed = await this.#ring.seal(JSON.stringify(policy), subscriberId);
    return { type: policy.type, shown, keyIds, sealed };
  }

  /** @throws UnsealError */
  async open(subscriberId: string, auth: SealedAuth): Promise<AuthPolicy> {
    if (auth.type === 'none') return { type: 'none' };
    const text = await this.#ring.open(auth.sealed, subscriberId);
    return JSON.parse(text, (name, value) => (name === 'expiresAt' ? new Date(value) : value));
  }

  /** Seals what is sealed with an older key anew. @returns null if there is nothing to do. */
  async reseal(subscriberId: string, auth: SealedAuth): Promise<SealedAuth | null> {
    if (auth.type === 'none' || this.#ring.isCurrent(auth.sealed)) return null;
    const text = await this.#ring.open(auth.sealed, subscriberId);
    return { ...auth, sealed: await this.#ring.seal(text, subscriberId) };
  }
}

/** What may be shown of a stored policy. */
export function shownAuth(auth: SealedAuth): ShownAuth {
  return auth.type === 'none' ? { type: 'none' } : auth.shown;
}

/** Names of the secrets that a request of this subscriber is made with. */
export function keyIdsOf(auth: SealedAuth): readonly string[] {
  return auth.type === 'none' ? [] : auth.keyIds;
}

function signatureIn(policy: AuthPolicy | null): SignatureAuth | undefined {
  const parts = policy === null || policy.type === 'none' ? [] : policy.type === 'all' ? policy.of : [policy];
  return parts.find((part): part is SignatureAuth => part.type === 'signature');
}

/** Whether a policy wants the signing secret that is there already, or one made for it. */
export function lacksSecret(input: AuthInput): boolean {
  const parts = input.type === 'none' ? [] : input.type === 'all' ? input.of : [input];
  return parts.some((part) => part.type === 'signature' && part.secret === undefined);
}

/** Fills in the signing secret where none was given: the one of the `present` policy with what is left of its rotation. */
export function completeAuth(input: AuthInput, present: AuthPolicy | null): Completed {
  let madeSecret: string | null = null;
  const complete = (part: Exclude<AuthInput, { type: 'none' | 'all' }>): SingleAuth => {
    if (part.type !== 'signature') return part;
    if (part.secret !== undefined) return { type: 'signature', secret: part.secret, previous: [] };
    const known = signatureIn(present);
    if (known !== undefined) return known;
    madeSecret = newSigningSecret();
    return { type: 'signature', secret: madeSecret, previous: [] };
  };
  if (input.type === 'none') return { policy: input, madeSecret };
  const policy: AuthPolicy =
    input.type === 'all' ? { type: 'all', of: input.of.map(complete) } : complete(input);
  return { policy, madeSecret };
}

/**
 * Puts a new signing secret in the place of the present one, which stays valid beside it until `expiresAt`. What earlier
 * rotations left ends by then too: without an overlap nothing but the new one is valid.
 *
 * @param given the new secret; without one a secret of the same kind is made.
 * @throws NoSignatureError
 */
export function rotateSecret(
  policy: AuthPolicy,
  given: string | undefined,
  expiresAt: Date,
  now: Date,
): { policy: AuthPolicy; secret: string } {
  const present = signatureIn(policy);
  if (present === undefined) throw new NoSignatureError('there is no signature to rotate');
  const secret = given ?? newSigningSecret(present.secret);
  const earlier = present.previous.map((old) => ({
    ...old,
    expiresAt: old.expiresAt < expiresAt ? old.expiresAt : expiresAt,
  }));
  const kept = [{ secret: present.secret, expiresAt }, ...earlier]
    .filter((old) => old.expiresAt > now && old.secret !== secret)
    .slice(0, MAX_PREVIOUS);
  const rotated: SignatureAuth = { type: 'signature', secret, previous: kept };
  if (policy.type !== 'all') return { policy: rotated, secret };
  return {
    policy: { type: 'all', of: policy.of.map((part) => (part === present ? rotated : part)) },
    secret,
  };
}
