import { createPrivateKey } from 'node:crypto';
import { importPKCS8 } from 'jose';
import * as oauth from 'oauth4webapi';
import { assertionAlgorithm, type OAuth2Auth } from '../../contracts/auth/oauth2.ts';
import type { Sender, SendResult } from '../send.ts';
import { SendFailure } from '../send-failure.ts';

/** For one request to a token endpoint, in milliseconds. */
const TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_MS = 5_000;
/** Bytes of an answer of a token endpoint that are read; a longer one is not usable. */
const MAX_ANSWER_BYTES = 16 * 1024;
/** How long a token is used whose endpoint does not say for how long it may be, in milliseconds. */
const LIFE_UNSAID_MS = 300_000;

/**
 * Asks a token endpoint for an access token, through the same sender, and so the same egress guard, as deliveries.
 *
 * @throws SendFailure with words that hold nothing of the credential or of the answer but OAuth's error code
 */
export async function requestAccessToken(
  auth: OAuth2Auth,
  sender: Sender,
  signal: AbortSignal,
): Promise<{ token: string; lifeMs: number }> {
  const server = { issuer: auth.tokenUrl, token_endpoint: auth.tokenUrl };
  const client = { client_id: auth.clientId };
  const parameters = {
    ...(auth.scope === undefined ? {} : { scope: auth.scope }),
    ...(auth.audience === undefined ? {} : { audience: auth.audience }),
  };
  const proof = await clientProof(auth);
  let failure: SendFailure | null = null;
  const customFetch = async (
    url: string,
    { headers, body }: { headers: Record<string, string>; body: URLSearchParams },
  ) => {
    const result = await sender.send(
      {
        url,
        headers,
        body: Buffer.from(body.toString()),
        timeoutMs: TIMEOUT_MS,
        connectTimeoutMs: CONNECT_TIMEOUT_MS,
        keepBytes: MAX_ANSWER_BYTES,
      },
      signal,
    );
    failure = failureOf(result);
    if (failure !== null) throw failure;
    return responseOf(result);
  };
  try {
    const response = await oauth.clientCredentialsGrantRequest(server, client, proof, parameters, {
      [oauth.customFetch]: customFetch as never,
      // Which hosts may be called without TLS is the egress guard's to say.
      [oauth.allowInsecureRequests]: true,
    });
    const answer = await oauth.processClientCredentialsResponse(server, client, response);
    const lifeMs = answer.expires_in === undefined ? LIFE_UNSAID_MS : answer.expires_in * 1000;
    return { token: usable(answer.access_token), lifeMs };
  } catch (error) {
    throw (
      failure ?? (error instanceof SendFailure ? error : new SendFailure('token_refused', wordsFor(error)))
    );
  }
}

async function clientProof(auth: OAuth2Auth): Promise<oauth.ClientAuth> {
  if (auth.privateKey !== undefined) {
    const algorithm = assertionAlgorithm(auth.privateKey);
    if (algorithm === null)
      throw new SendFailure('auth_unavailable', 'the private key of the client cannot be read');
    const pem = createPrivateKey(auth.privateKey).export({ type: 'pkcs8', format: 'pem' }).toString();
    const key = await importPKCS8(pem, algorithm);
    return oauth.PrivateKeyJwt(auth.keyId === undefined ? key : { key, kid: auth.keyId });
  }
  const secret = auth.clientSecret ?? '';
  const inBody = auth.clientAuth === 'client_secret_post' || auth.clientAuth === 'post';
  return inBody ? oauth.ClientSecretPost(secret) : oauth.ClientSecretBasic(secret);
}

/** Why there is no answer to read, or null. */
function failureOf({ observation }: SendResult): SendFailure | null {
  if (observation.kind === 'failure') {
    const { reason, detail } = observation;
    // What only a change of configuration can mend is said as such.
    const kept = reason === 'egress_blocked' || reason === 'aborted' ? reason : 'token_unavailable';
    return new SendFailure(kept, `token endpoint: ${detail}`);
  }
  const { statusCode } = observation;
  const broken = statusCode === 429 || statusCode >= 500;
  return broken ? new SendFailure('token_unavailable', `token endpoint answered ${statusCode}`) : null;
}

function responseOf({ observation, body, contentType }: SendResult): Response {
  const status = observation.kind === 'response' ? observation.statusCode : 500;
  const withoutBody = status < 200 || status === 204 || status === 205 || status === 304;
  return new Response(withoutBody ? null : new Uint8Array(body), {
    status: status < 200 ? 500 : status,
    headers: contentType === null ? {} : { 'content-type': contentType },
  });
}

/** A token goes into a header as it is. */
function usable(token: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw new SendFailure('token_refused', 'the access token cannot be put into a header');
}

/** OAuth's error code is a fixed word; everything else in an answer may repeat what was sent. */
function wordsFor(error: unknown): string {
  if (error instanceof oauth.ResponseBodyError) {
    const code = /^[a-z_]{1,40}$/.test(error.error) ? error.error : 'an error';
    return `token endpoint answered ${error.status}: ${code}`;
  }
  if (error instanceof oauth.WWWAuthenticateChallengeError) return `token endpoint answered ${error.status}`;
  return 'the answer of the token endpoint is not one of OAuth 2.0';
}
