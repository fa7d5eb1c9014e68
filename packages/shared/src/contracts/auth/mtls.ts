import { createPrivateKey, X509Certificate } from 'node:crypto';
import { z } from 'zod';

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Every certificate of a PEM text; null if one cannot be read or there is none. */
export function certificatesIn(pem: string): X509Certificate[] | null {
  try {
    const certificates = pem.match(BLOCK)?.map((block) => new X509Certificate(block)) ?? [];
    return certificates.length > 0 ? certificates : null;
  } catch {
    return null;
  }
}

function matches(certificate: X509Certificate, pem: string): boolean | null {
  try {
    return certificate.checkPrivateKey(createPrivateKey(pem));
  } catch {
    return null;
  }
}

const certificates = z
  .string()
  .max(65_536)
  .refine((pem) => certificatesIn(pem) !== null, 'must be certificates in PEM');

/** A client certificate shown in the TLS handshake, and whom to trust instead of the public authorities. */
export const mtlsAuth = z
  .strictObject({
    type: z.literal('mtls'),
    certificate: certificates.describe('The client certificate, then what leads to its authority'),
    key: z.string().max(16_384).describe('Its private key, PEM, unencrypted'),
    ca: certificates.optional().describe('Trusted for this subscriber instead of the public authorities'),
  })
  .superRefine(({ certificate, key }, context) => {
    const own = certificatesIn(certificate)?.[0];
    const fits = own === undefined ? true : matches(own, key);
    if (fits === true) return;
    const message =
      fits === null ? 'must be an unencrypted private key in PEM' : 'does not belong to the certificate';
    context.addIssue({ code: 'custom', path: ['key'], message });
  });
export type MtlsAuth = z.output<typeof mtlsAuth>;
