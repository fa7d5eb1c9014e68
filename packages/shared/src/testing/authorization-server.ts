/** An OAuth 2.0 authorization server for tests: the package `oidc-provider` on loopback. */

import { createPublicKey } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

export interface ClientOfServer {
  readonly id: string;
  readonly method: 'client_secret_basic' | 'client_secret_post' | 'private_key_jwt';
  readonly secret?: string;
  /** PEM; the server is given the public half. */
  readonly privateKey?: string;
}

export interface AuthorizationServer extends AsyncDisposable {
  readonly tokenUrl: string;
  /** Answers of the token endpoint so far, by status. */
  readonly answers: readonly number[];
  /** What the server knows of the token in an `Authorization` header; null if it does not know it. */
  describe(
    authorization: string | undefined,
  ): Promise<{ clientId: string; scope: string | undefined } | null>;
  /** Makes a token worthless before its time. */
  revoke(authorization: string | undefined): Promise<void>;
}

/** The one that clients may ask for. */
const GRANTED_SCOPE = 'events';

/** @param lifeSeconds how long tokens are good for */
export async function startAuthorizationServer(
  clients: readonly ClientOfServer[],
  { lifeSeconds = 600 } = {},
): Promise<AuthorizationServer> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: clients.map(({ id, method, secret, privateKey }) => ({
      client_id: id,
      ...(secret === undefined ? {} : { client_secret: secret }),
      token_endpoint_auth_method: method,
      grant_types: ['client_credentials'],
      scope: GRANTED_SCOPE,
      response_types: [],
      redirect_uris: [],
      ...(privateKey === undefined
        ? {}
        : { jwks: { keys: [createPublicKey(privateKey).export({ format: 'jwk' })] } }),
    })),
    scopes: [GRANTED_SCOPE, 'everything'],
    features: { clientCredentials: { enabled: true }, devInteractions: { enabled: false } },
    ttl: { ClientCredentials: lifeSeconds },
  });
  const answers: number[] = [];
  const handle = provider.callback();
  server.on('request', (request, response) => {
    response.once('finish', () => answers.push(response.statusCode));
    handle(request, response);
  });
  const find = (authorization: string | undefined) =>
    provider.ClientCredentials.find(/^Bearer (.+)$/.exec(authorization ?? '')?.[1] ?? '');

  return {
    tokenUrl: `${issuer}/token`,
    answers,
    async describe(authorization) {
      const token = await find(authorization);
      return token?.clientId === undefined ? null : { clientId: token.clientId, scope: token.scope };
    },
    async revoke(authorization) {
      await (await find(authorization))?.destroy();
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
