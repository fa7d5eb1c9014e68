import { z } from 'zod';
import { type ApiKeyAuth, apiKeyAuth } from './api-key.ts';
import { type BasicAuth, basicAuth } from './basic.ts';
import { type BearerAuth, bearerAuth } from './bearer.ts';
import { type MtlsAuth, mtlsAuth } from './mtls.ts';
import { type OAuth2Auth, oauth2Auth } from './oauth2.ts';
import { type SignatureAuth, signatureAuth } from './signature.ts';

const noAuth = z.strictObject({ type: z.literal('none') });

const SINGLE = [basicAuth, bearerAuth, apiKeyAuth, signatureAuth, oauth2Auth, mtlsAuth] as const;
const singleAuth = z.discriminatedUnion('type', SINGLE);

/** Several at once. Each must have a place of its own in the request. */
const allAuth = z
  .strictObject({ type: z.literal('all'), of: z.array(singleAuth).min(1).max(SINGLE.length) })
  .superRefine(({ of }, context) => {
    const taken = new Map<string, number>();
    of.forEach((policy, index) => {
      const place = placeOf(policy);
      const other = taken.get(place);
      taken.set(place, index);
      if (other === undefined) return;
      const message = `cannot be combined with of[${other}]: both set the ${place}`;
      context.addIssue({ code: 'custom', path: ['of', index], message });
    });
  });

/** Where a policy puts its proof. */
function placeOf(policy: z.output<typeof singleAuth>): string {
  if (policy.type === 'signature') return 'signature';
  if (policy.type === 'mtls') return 'client certificate';
  return `header ${policy.type === 'api-key' ? policy.header.toLowerCase() : 'authorization'}`;
}

/** How a subscriber wants to be sure that it is Waybill who calls. */
export const authPolicy = z.discriminatedUnion('type', [noAuth, ...SINGLE, allAuth]);
export type AuthInput = z.output<typeof authPolicy>;

export type SingleAuth = BasicAuth | BearerAuth | ApiKeyAuth | SignatureAuth | OAuth2Auth | MtlsAuth;
/** A policy with everything it needs to be applied. Never leaves the process but sealed. */
export type AuthPolicy =
  | { readonly type: 'none' }
  | SingleAuth
  | { readonly type: 'all'; readonly of: readonly SingleAuth[] };

/** The policies that are to be applied together. */
export function partsOf<Single extends { readonly type: string }>(
  policy: { readonly type: 'none' } | Single | { readonly type: 'all'; readonly of: readonly Single[] },
): readonly Single[] {
  if (policy.type === 'none') return [];
  return policy.type === 'all' && 'of' in policy ? policy.of : [policy as Single];
}

/** The headers in which a policy puts its proof, lower case. */
export function headersOf(policy: AuthInput): string[] {
  return partsOf<z.output<typeof singleAuth>>(policy).flatMap((part) =>
    part.type === 'signature' || part.type === 'mtls' ? [] : [placeOf(part).slice('header '.length)],
  );
}
