import { partsOf } from '@waybill/shared/contracts/auth/auth-policy';
import { certificatesIn } from '@waybill/shared/contracts/auth/mtls';
import type { SubscriberInput } from '@waybill/shared/contracts/subscriber';
import { checkUrl, type EgressPolicy } from '@waybill/shared/domain/egress-policy';
import type { Fault } from '@waybill/shared/domain/errors';

/** What stands against calling as the subscriber wants it: the egress guard, for every URL, and time, for certificates. */
export function callFaults({ url, auth }: SubscriberInput, egress: EgressPolicy, now: Date): Fault[] {
  const urls = [{ path: '$.url', called: url }];
  const expired: Fault[] = [];
  partsOf<Exclude<SubscriberInput['auth'], { type: 'none' | 'all' }>>(auth).forEach((part, index) => {
    const path = auth.type === 'all' ? `$.auth.of[${index}]` : '$.auth';
    if (part.type === 'oauth2') urls.push({ path: `${path}.tokenUrl`, called: part.tokenUrl });
    const until = part.type === 'mtls' ? certificatesIn(part.certificate)?.[0]?.validToDate : undefined;
    if (until !== undefined && until <= now)
      expired.push({ path: `${path}.certificate`, message: `expired at ${until.toISOString()}` });
  });
  const refused = urls.flatMap(({ path, called }) => {
    const message = checkUrl(called, egress);
    return message === null ? [] : [{ path, message }];
  });
  return [...refused, ...expired];
}
