/** Certificates for tests, made on the spot with the `openssl` command. */

import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface Certificate {
  /** PEM. */
  readonly cert: string;
  /** PEM, unencrypted. */
  readonly key: string;
}

const run = promisify(execFile);

/**
 * A self-signed certificate for the given DNS names and IP addresses, valid for a day. Nobody trusts it, unless it is
 * also given as the certificate authority.
 *
 * @throws when `openssl` is not on the PATH
 */
export async function createSelfSignedCertificate(names: readonly string[]): Promise<Certificate> {
  const directory = await mkdtemp(join(tmpdir(), 'waybill-certificate-'));
  try {
    const [certFile, keyFile] = [join(directory, 'cert.pem'), join(directory, 'key.pem')];
    const subjects = names.map((name) => (/^[\d.]+$|:/.test(name) ? `IP:${name}` : `DNS:${name}`));
    await run('openssl', [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1'],
      ...['-subj', '/CN=waybill-test', '-addext', `subjectAltName=${subjects.join(',')}`],
      ...['-keyout', keyFile, '-out', certFile],
    ]);
    return { cert: await readFile(certFile, 'utf8'), key: await readFile(keyFile, 'utf8') };
  } finally {
    await rm(directory, { recursive: true });
  }
}
