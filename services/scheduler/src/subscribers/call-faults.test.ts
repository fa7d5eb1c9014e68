import { subscriberInput } from '@waybill/shared/contracts/subscriber';
import { parseEgressPolicy } from '@waybill/shared/domain/egress-policy';
import { createSelfSignedCertificate } from '@waybill/shared/testing/certificate';
import { expect, it } from 'vitest';
import { callFaults } from './call-faults.ts';

const EGRESS = parseEgressPolicy('');

it('names every URL that must not be called, and every certificate that has expired', async () => {
  const { cert, key } = await createSelfSignedCertificate(['waybill.example']);
  const tokenUrl = 'https://10.0.0.5/token';
  const of = [
    { type: 'mtls', certificate: cert, key },
    { type: 'oauth2', tokenUrl, clientId: 'waybill', clientSecret: 's' },
  ];
  const input = subscriberInput.parse({ url: 'https://127.1/', auth: { type: 'all', of } });
  const now = new Date();
  const inTwoDays = new Date(now.getTime() + 2 * 86_400_000);
  const pathsAt = (time: Date) => callFaults(input, EGRESS, time).map(({ path }) => path);
  expect(pathsAt(now)).toEqual(['$.url', '$.auth.of[1].tokenUrl']);
  expect(pathsAt(inTwoDays)).toEqual(['$.url', '$.auth.of[1].tokenUrl', '$.auth.of[0].certificate']);
});
