import type { Outcome, Verdict } from './outcome.ts';

type Reason = NonNullable<Verdict['reason']>;

/** What each reason means for whoever configured the subscriber, and what to do about it. */
const ADVICE: Readonly<Record<Reason, string>> = {
  aborted: 'Waybill stopped while the request was under way. Try again.',
  auth_unavailable:
    'Nothing was sent, because the auth of the subscriber could not be applied. Put its auth again with a credential that can be read.',
  client_error:
    'The endpoint did not take the request. Check the path of the URL and what the endpoint expects.',
  conflict: 'The endpoint says that the request conflicts with something it has. Look into its log.',
  conflict_after_unknown: 'The endpoint has had this delivery already.',
  connect_failed:
    'No connection could be made. Check the host and the port of the URL, and routes and firewalls on the way.',
  connect_refused:
    'Nothing listens at the port of the URL, or a firewall refuses. Check that the endpoint runs.',
  connect_timeout:
    'No connection within delivery.connectTimeoutMs. Check host, port and firewalls, or raise the limit.',
  dns: 'The host name of the URL does not resolve. Check its spelling and its DNS records.',
  egress_blocked:
    'The egress guard refused the address. Use a public https URL, or have the operator name the host in WAYBILL_EGRESS_ALLOW.',
  forbidden:
    'The endpoint knows who calls and does not let it in. Ask its operator to allow it; a firewall may answer so too.',
  gateway:
    'A gateway in front of the endpoint had no answer from it. Check that the endpoint runs and answers in time.',
  gone: 'The endpoint says that it is gone for good. Real deliveries would be held until the subscriber is enabled again.',
  headers_too_large:
    'The head of the answer is larger than Waybill reads. Make the endpoint send less in its headers.',
  not_http: 'What answered does not speak HTTP/1.1. Check the port and whether it is http or https.',
  redirected: 'The endpoint redirects, and redirects are never followed. Put the URL it points to.',
  refused: 'The endpoint refused the content. Check that it takes POST with application/cloudevents+json.',
  request_invalid: 'The request could not be made from the URL or the headers of the subscriber. Check them.',
  reset:
    'The connection was lost before an answer; the request may have arrived. Look into the log of the endpoint.',
  secret_key_missing:
    'Nothing was sent, because the credential is sealed under a key that this service does not have. Give it that key in WAYBILL_SECRET_KEYS.',
  server_error: 'The endpoint failed. Look into its log.',
  throttled: 'The endpoint says that it gets too much. Lower delivery.ratePerSecond, or try later.',
  timeout:
    'No complete answer within delivery.timeoutMs; the request may have arrived. Answer sooner, or raise the limit.',
  tls: 'TLS failed. Check that the certificate is valid for the host of the URL and whole, and what client certificate is expected.',
  token_refused:
    'Nothing was sent, because the token endpoint gave no access token. Check clientId, its secret or key, scope and audience.',
  token_unavailable:
    'Nothing was sent, because the token endpoint did not answer. Check tokenUrl and that it runs.',
  truncated: 'The answer broke off. Look into the log of the endpoint and of what stands in front of it.',
  unauthorized:
    'The endpoint did not accept the credential. Check that it is the one the endpoint knows and put it again.',
  worker_lost: 'The worker was lost while the request was under way.',
};

const NEVER_LEFT =
  'Nothing was sent: no connection was free within delivery.timeoutMs. Others wait for the endpoint too; it should answer sooner.';

/** An outcome in words that a person can act on. */
export function adviceFor(outcome: Outcome, reason: Reason | null): string {
  if (reason === null) return 'The endpoint accepted the request. Nothing is to be done.';
  return outcome === 'not_sent' && reason === 'timeout' ? NEVER_LEFT : ADVICE[reason];
}
