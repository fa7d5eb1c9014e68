import { createHmac, hkdfSync } from 'node:crypto';
import { CompactEncrypt, compactDecrypt, decodeProtectedHeader } from 'jose';

/** A key that seals, by its name. */
export interface SealingKey {
  readonly kid: string;
  /** 32 bytes. */
  readonly key: Buffer;
}

/** A secret cannot be opened: its key is not in the ring, or it is not what was sealed for this owner. */
export class UnsealError extends Error {
  /** The name of the key that is missing; null when the key is there and the content is not right. */
  readonly missingKid: string | null;

  constructor(message: string, missingKid: string | null) {
    super(message);
    this.name = 'UnsealError';
    this.missingKid = missingKid;
  }
}

/** Hexadecimal digits of a fingerprint: enough to tell secrets apart, too few to confirm a guess without the key. */
const FINGERPRINT_DIGITS = 8;

/**
 * Seals secrets at rest (JWE, `dir`, A256GCM). The first key seals, every key opens. What is sealed is bound to its
 * owner: moved to another row of the database it does not open.
 */
export class KeyRing {
  readonly #keys: ReadonlyMap<string, Buffer>;
  readonly #sealing: SealingKey;
  readonly #fingerprintKey: Buffer;

  constructor(keys: readonly SealingKey[]) {
    const [first] = keys;
    if (first === undefined) throw new Error('a key ring needs at least one key');
    this.#sealing = first;
    this.#keys = new Map(keys.map(({ kid, key }) => [kid, key]));
    this.#fingerprintKey = Buffer.from(hkdfSync('sha256', first.key, '', 'waybill fingerprint', 32));
  }

  /** The name of the key that seals now. */
  get kid(): string {
    return this.#sealing.kid;
  }

  seal(plain: string, owner: string): Promise<string> {
    return new CompactEncrypt(Buffer.from(plain))
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid: this.#sealing.kid, sub: owner })
      .encrypt(this.#sealing.key);
  }

  /** @throws UnsealError */
  async open(sealed: string, owner: string): Promise<string> {
    const { kid, sub } = headerOf(sealed);
    const key = this.#keys.get(kid);
    if (key === undefined) throw new UnsealError(`no key ${kid} in WAYBILL_SECRET_KEYS`, kid);
    if (sub !== owner) throw new UnsealError('sealed for another owner', null);
    try {
      const { plaintext } = await compactDecrypt(sealed, key, {
        keyManagementAlgorithms: ['dir'],
        contentEncryptionAlgorithms: ['A256GCM'],
      });
      return Buffer.from(plaintext).toString();
    } catch {
      throw new UnsealError(`the key ${kid} does not open it`, null);
    }
  }

  /** Whether it was sealed with the key that seals now. */
  isCurrent(sealed: string): boolean {
    return headerOf(sealed).kid === this.#sealing.kid;
  }

  /** Names a secret so that people can tell it from another; nobody can test a guess without the key. */
  fingerprint(secret: string): string {
    return createHmac('sha256', this.#fingerprintKey)
      .update(secret)
      .digest('hex')
      .slice(0, FINGERPRINT_DIGITS);
  }
}

function headerOf(sealed: string): { kid: string; sub: string } {
  try {
    const { kid, sub } = decodeProtectedHeader(sealed);
    return { kid: String(kid), sub: String(sub) };
  } catch {
    throw new UnsealError('it is not sealed content', null);
  }
}
