import { randomBytes } from 'node:crypto';
import { compactDecrypt, decodeProtectedHeader } from 'jose';
import { describe, expect, it } from 'vitest';
import type { AuthPolicy } from '../contracts/auth/auth-policy.ts';
import { newSigningSecret } from '../contracts/auth/signature.ts';
import { CredentialVault, completeAuth, keyIdsOf, rotateSecret, shownAuth } from './credential-vault.ts';
import { KeyRing, type SealingKey } from './key-ring.ts';

const NOW = new Date('2026-02-03T04:05:06Z');
const later = (ms: number) => new Date(NOW.getTime() + ms);
const key = (kid: string): SealingKey => ({ kid, key: randomBytes(32) });
const [OLD, NEW] = [key('2025'), key('2026')] as const;
const vaultOf = (...keys: SealingKey[]) => new CredentialVault(new KeyRing(keys));

const PASSWORD = 'correct horse battery staple';
const POLICY: AuthPolicy = {
  type: 'all',
  of: [
    { type: 'basic', username: 'waybill', password: PASSWORD },
    {
      type: 'signature',
      secret: newSigningSecret(),
      previous: [{ secret: newSigningSecret(), expiresAt: later(1_000) }],
    },
  ],
};

describe('a sealed policy', () => {
  it('opens to what it was, for its owner alone', async () => {
    const vault = vaultOf(OLD);
    const sealed = await vault.seal('clinic', POLICY);
    expect(await vault.open('clinic', sealed)).toEqual(POLICY);
    await expect(vault.open('pharmacy', sealed)).rejects.toThrow('another owner');
  });

  it('is a JWE that names its key and that anybody with the key can read', async () => {
    const sealed = await vaultOf(NEW, OLD).seal('clinic', POLICY);
    if (sealed.type === 'none') throw new Error('it is not sealed');
    expect(decodeProtectedHeader(sealed.sealed)).toEqual({
      alg: 'dir',
      enc: 'A256GCM',
      kid: '2026',
      sub: 'clinic',
    });
    const { plaintext } = await compactDecrypt(sealed.sealed, NEW.key);
    expect(Buffer.from(plaintext).toString()).toContain(PASSWORD);
  });

  it('shows nothing of its secrets', async () => {
    const sealed = await vaultOf(OLD).seal('clinic', POLICY);
    const secrets = JSON.stringify(POLICY).match(/whsec_[^"]+|correct horse[^"]+/g) ?? [];
    expect(secrets).toHaveLength(3);
    for (const secret of secrets) expect(JSON.stringify(sealed)).not.toContain(secret);
    expect(shownAuth(sealed)).toMatchObject({
      type: 'all',
      of: [
        {
          type: 'basic',
          username: 'waybill',
          password: { fingerprint: expect.stringMatching(/^[0-9a-f]{8}$/) },
        },
        { type: 'signature', previous: [{ expiresAt: later(1_000) }] },
      ],
    });
    expect(keyIdsOf(sealed)).toEqual([
      expect.stringMatching(/^basic:[0-9a-f]{8}$/),
      expect.stringMatching(/^signature:[0-9a-f]{8}$/),
    ]);
  });

  it('does not open without its key, whatever the other one is called', async () => {
    const sealed = await vaultOf(OLD).seal('clinic', POLICY);
    await expect(vaultOf(NEW).open('clinic', sealed)).rejects.toMatchObject({ missingKid: '2025' });
    await expect(vaultOf({ ...NEW, kid: '2025' }).open('clinic', sealed)).rejects.toMatchObject({
      missingKid: null,
    });
  });

  it('is sealed anew with the first key, once, and keeps its fingerprints', async () => {
    const sealed = await vaultOf(OLD).seal('clinic', POLICY);
    const vault = vaultOf(NEW, OLD);
    const again = await vault.reseal('clinic', sealed);
    if (again === null) throw new Error('it was not sealed anew');
    expect(await vault.reseal('clinic', again)).toBeNull();
    expect(await vaultOf(NEW).open('clinic', again)).toEqual(POLICY);
    expect(keyIdsOf(again)).toEqual(keyIdsOf(sealed));
  });
});

describe('a signature without a secret', () => {
  it('gets one that is told, and keeps the one there is, with what is left of its rotation', () => {
    const made = completeAuth({ type: 'signature' }, null);
    expect(made.madeSecret).toMatch(/^whsec_.{44}$/);
    expect(made.policy).toEqual({ type: 'signature', secret: made.madeSecret, previous: [] });
    const kept = completeAuth({ type: 'all', of: [{ type: 'signature' }] }, POLICY);
    expect(kept).toEqual({ madeSecret: null, policy: { type: 'all', of: [POLICY.of[1]] } });
  });
});

describe('a rotation', () => {
  const secret = newSigningSecret();
  const policy: AuthPolicy = { type: 'signature', secret, previous: [] };

  it('puts a new secret first and keeps the old one until it expires', () => {
    const rotated = rotateSecret(policy, undefined, later(60_000), NOW);
    expect(rotated.secret).not.toBe(secret);
    expect(rotated.policy).toEqual({
      type: 'signature',
      secret: rotated.secret,
      previous: [{ secret, expiresAt: later(60_000) }],
    });
  });

  it('without overlap keeps nothing, also of one before', () => {
    const first = rotateSecret(policy, undefined, later(60_000), NOW);
    expect(rotateSecret(first.policy, undefined, NOW, NOW).policy).toMatchObject({ previous: [] });
    expect(rotateSecret(policy, undefined, NOW, NOW).policy).toMatchObject({ previous: [] });
  });

  it('within another keeps both, and drops what has expired', () => {
    const first = rotateSecret(policy, undefined, later(10_000), NOW);
    const second = rotateSecret(first.policy, undefined, later(20_000), later(5_000));
    expect(second.policy).toMatchObject({ previous: [{ secret: first.secret }, { secret }] });
    const third = rotateSecret(second.policy, undefined, later(60_000), later(15_000));
    expect(third.policy).toMatchObject({ previous: [{ secret: second.secret }, { secret: first.secret }] });
  });

  it('makes a secret of the same kind', () => {
    const ed25519: AuthPolicy = { type: 'signature', secret: newSigningSecret('whsk_'), previous: [] };
    expect(rotateSecret(ed25519, undefined, later(1), NOW).secret).toMatch(/^whsk_/);
  });

  it('is refused where nothing is signed', () => {
    expect(() => rotateSecret({ type: 'bearer', token: 't' }, undefined, later(1), NOW)).toThrow();
  });
});
