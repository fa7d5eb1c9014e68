import { z } from 'zod';
import { authPolicy, headersOf } from './auth/auth-policy.ts';
import { subscriberTerms } from './subscriber-terms.ts';

export { subscriberId } from './subscriber-terms.ts';

/** A subscriber as it is put. What is left out takes its default. */
export const subscriberInput = z
  .strictObject({
    ...subscriberTerms,
    auth: authPolicy.default({ type: 'none' }),
  })
  .superRefine(({ url, delivery: { headers }, auth }, context) => {
    const proofs = headersOf(auth);
    for (const name of Object.keys(headers)) {
      if (!proofs.includes(name.toLowerCase())) continue;
      context.addIssue({ code: 'custom', path: ['delivery', 'headers', name], message: 'is set by auth' });
    }
    const showsCertificate =
      auth.type === 'all' ? auth.of.some(({ type }) => type === 'mtls') : auth.type === 'mtls';
    if (showsCertificate && !url.startsWith('https:'))
      context.addIssue({
        code: 'custom',
        path: ['url'],
        message: 'must be https: a client certificate is shown by TLS',
      });
  });
export type SubscriberInput = z.output<typeof subscriberInput>;
export type DeliveryPolicy = SubscriberInput['delivery'];
