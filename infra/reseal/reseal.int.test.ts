import { randomBytes } from 'node:crypto';
import type { AuthPolicy } from '@waybill/shared/contracts/auth/auth-policy';
import { CredentialVault } from '@waybill/shared/sealing/credential-vault';
import { KeyRing } from '@waybill/shared/sealing/key-ring';
import { SubscriberStore } from '@waybill/shared/stores/subscribers';
import { ownDatabase } from '@waybill/shared/testing/database';
import { storable } from '@waybill/shared/testing/rows';
import { expect, inject, it } from 'vitest';
import { reseal } from './reseal.ts';

const [OLD, NEW, LOST] = ['2025', '2026', 'lost'].map((kid) => ({ kid, key: randomBytes(32) })) as [
  { kid: string; key: Buffer },
  { kid: string; key: Buffer },
  { kid: string; key: Buffer },
];
const POLICY: AuthPolicy = { type: 'bearer', token: 'token-42' };

it('seals everything with the first key, once, and says what cannot be opened', async () => {
  await using database = await ownDatabase(inject('engines').MONGODB_URI);
  const subscribers = new SubscriberStore(database.db);
  const sealed = async (id: string, key: typeof OLD) => {
    const auth = await new CredentialVault(new KeyRing([key])).seal(id, POLICY);
    return subscribers.put(id, { ...storable({ url: 'https://a.example/' }), auth }, 'root');
  };
  await subscribers.put('open', storable({ url: 'https://a.example/' }), 'root');
  const before = await sealed('old', OLD);
  await sealed('new', NEW);
  await sealed('lost', LOST);

  const unopened = [{ subscriberId: 'lost', why: expect.stringContaining('lost') }];
  const keys = [NEW, OLD];
  expect(await reseal(database.uri, keys)).toEqual({ resealed: 1, current: 1, changed: [], unopened });
  expect(await reseal(database.uri, keys)).toEqual({ resealed: 0, current: 2, changed: [], unopened });

  const after = await subscribers.get('old');
  expect(after).toMatchObject({ version: before.version, updatedAt: before.updatedAt });
  const vault = new CredentialVault(new KeyRing([NEW]));
  expect(await vault.open('old', after?.auth ?? { type: 'none' })).toEqual(POLICY);
});
