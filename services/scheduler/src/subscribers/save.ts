import type { AuthPolicy } from '@waybill/shared/contracts/auth/auth-policy';
import type { SubscriberInput } from '@waybill/shared/contracts/subscriber';
import { ProblemError } from '@waybill/shared/domain/errors';
import {
  type CredentialVault,
  completeAuth,
  lacksSecret,
  NoSignatureError,
  rotateSecret,
} from '@waybill/shared/sealing/credential-vault';
import { UnsealError } from '@waybill/shared/sealing/key-ring';
import type { SubscriberRow, SubscriberStore } from '@waybill/shared/stores/subscribers';

interface SaveDeps {
  readonly subscribers: SubscriberStore;
  readonly vault: CredentialVault;
}

/** How often a change is made anew because somebody else made one at the same time. */
const MAX_TRIES = 5;

/**
 * Creates or replaces a subscriber, its secrets sealed. A signature without a secret keeps the present one; if there is
 * none, one is made.
 *
 * @returns the row, and the secret that was made: the only time it is seen.
 * @throws ProblemError
 */
export async function saveSubscriber(
  id: string,
  input: SubscriberInput,
  by: string,
  { subscribers, vault }: SaveDeps,
): Promise<{ row: SubscriberRow; madeSecret: string | null }> {
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    const lacking = lacksSecret(input.auth);
    const present = lacking ? await subscribers.get(id) : null;
    const { policy, madeSecret } = completeAuth(input.auth, present && (await open(present, vault)));
    const auth = await vault.seal(id, policy);
    // What was taken from a version, or made for want of one, must not undo what came after it.
    const row = await subscribers.put(
      id,
      { ...input, auth },
      by,
      lacking ? (present?.version ?? 0) : undefined,
    );
    if (row) return { row, madeSecret };
  }
  throw new ProblemError('changed_meanwhile', `subscriber ${id} was not changed`);
}

/**
 * Puts a new signing secret in the place of the present one, which stays valid for the overlap.
 *
 * @param given the new secret; without one it is made.
 * @throws ProblemError
 */
export async function rotateSubscriberSecret(
  id: string,
  { given, overlapMs, now }: { given: string | undefined; overlapMs: number; now: Date },
  by: string,
  { subscribers, vault }: SaveDeps,
): Promise<{ row: SubscriberRow; secret: string; expiresAt: Date }> {
  const expiresAt = new Date(now.getTime() + overlapMs);
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    const present = await subscribers.get(id);
    if (!present) throw new ProblemError('not_found', `there is no subscriber ${id}`);
    const { policy, secret } = rotated(id, await open(present, vault), given, expiresAt, now);
    const row = await subscribers.setAuth(id, await vault.seal(id, policy), present.version, by);
    if (row) return { row, secret, expiresAt };
  }
  throw new ProblemError('changed_meanwhile', `the secret of subscriber ${id} was not changed`);
}

function rotated(
  id: string,
  policy: AuthPolicy,
  ...change: [given: string | undefined, expiresAt: Date, now: Date]
): ReturnType<typeof rotateSecret> {
  try {
    return rotateSecret(policy, ...change);
  } catch (error) {
    if (!(error instanceof NoSignatureError)) throw error;
    const detail = `the auth of subscriber ${id} is ${policy.type}: put it with the credential it is to have`;
    throw new ProblemError('not_rotatable', detail);
  }
}

async function open({ _id, auth }: SubscriberRow, vault: CredentialVault): Promise<AuthPolicy> {
  try {
    return await vault.open(_id, auth);
  } catch (error) {
    if (!(error instanceof UnsealError)) throw error;
    throw new ProblemError('secret_unavailable', `the secret of subscriber ${_id}: ${error.message}`);
  }
}
