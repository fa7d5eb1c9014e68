import { needing } from '@waybill/shared/runtime/engine-fault';
import { CredentialVault } from '@waybill/shared/sealing/credential-vault';
import { KeyRing, type SealingKey, UnsealError } from '@waybill/shared/sealing/key-ring';
import { connectDatabase, type DatabaseAccess } from '@waybill/shared/stores/client';
import { SubscriberStore } from '@waybill/shared/stores/subscribers';

export interface Resealed {
  /** Sealed anew with the first key. */
  readonly resealed: number;
  /** Sealed with it already. */
  readonly current: number;
  /** Changed by somebody else meanwhile; run it again. */
  readonly changed: readonly string[];
  /** Subscribers whose secrets cannot be opened, and why. They stay as they are. */
  readonly unopened: readonly { readonly subscriberId: string; readonly why: string }[];
}

/**
 * Seals every stored secret with the first key, so that the others can be taken out of WAYBILL_SECRET_KEYS. May be run
 * at any time, beside running services, and as often as one likes.
 */
export async function reseal(
  mongodbUri: string,
  keys: readonly SealingKey[],
  access?: DatabaseAccess,
): Promise<Resealed> {
  const vault = new CredentialVault(new KeyRing(keys));
  const database = await needing('mongodb', mongodbUri, () =>
    connectDatabase(mongodbUri, 'waybill-reseal', access),
  );
  try {
    const subscribers = new SubscriberStore(database.db);
    let [resealed, current] = [0, 0];
    const changed: string[] = [];
    const unopened: { subscriberId: string; why: string }[] = [];
    for await (const { _id, auth } of subscribers.withSecrets()) {
      try {
        const again = await vault.reseal(_id, auth);
        if (again === null) current += 1;
        else if (await subscribers.reseal(_id, auth, again)) resealed += 1;
        else changed.push(_id);
      } catch (error) {
        if (!(error instanceof UnsealError)) throw error;
        unopened.push({ subscriberId: _id, why: error.message });
      }
    }
    return { resealed, current, changed, unopened };
  } finally {
    await database.close();
  }
}
