import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { ApiError, answerOf } from '@waybill/client';
import { useState } from 'react';
import { Confirm } from '../parts/confirm.tsx';
import { GuardedButton } from '../parts/guarded-button.tsx';
import { Fault, Notice } from '../parts/notice.tsx';
import parts from '../parts/parts.module.css';
import { Time } from '../parts/time.tsx';
import { waybill } from '../waybill.ts';

/** The legal hold on a shipment: whether one stands, and the means to set and to release it. */
export function HoldPanel({ shipmentId }: { shipmentId: string }) {
  const queryClient = useQueryClient();
  const [asking, setAsking] = useState<'hold' | 'release' | null>(null);
  const [reason, setReason] = useState('');
  const path = { path: { shipmentId } };
  const queryKey = ['hold', shipmentId];
  const { data: hold, error } = useQuery({
    queryKey,
    queryFn: () =>
      answerOf(waybill.GET('/v1/retention/holds/{shipmentId}', { params: path })).catch(
        (failure: unknown) => {
          if (failure instanceof ApiError && failure.status === 404) return null;
          throw failure;
        },
      ),
  });
  const change = useMutation({
    mutationFn: async (to: 'hold' | 'release') => {
      if (to === 'hold')
        await waybill.PUT('/v1/retention/holds/{shipmentId}', {
          params: path,
          body: { reason: reason.trim() },
        });
      else await waybill.DELETE('/v1/retention/holds/{shipmentId}', { params: path });
    },
    onSuccess: async () => {
      setAsking(null);
      setReason('');
      await queryClient.invalidateQueries({ queryKey });
      await queryClient.invalidateQueries({ queryKey: ['holds'] });
    },
  });

  return (
    <>
      {error && <Fault error={error} />}
      {hold && (
        <Notice tone="warn">
          <p>
            On legal hold since <Time at={hold.setAt} />, by {hold.setBy}: {hold.reason}. Nothing of it is
            deleted.
          </p>
          <GuardedButton operation="deleteRetentionHold" onPress={() => setAsking('release')}>
            Release the hold
          </GuardedButton>
        </Notice>
      )}
      {hold === null && (
        <div className={parts.actions}>
          <GuardedButton operation="putRetentionHold" onPress={() => setAsking('hold')}>
            Hold this shipment
          </GuardedButton>
        </div>
      )}
      {asking === 'release' && (
        <Confirm
          title={`Release the hold on ${shipmentId}?`}
          action="Release"
          busy={change.isPending}
          onConfirm={() => change.mutate('release')}
          onClose={() => setAsking(null)}
        >
          <p>Retention may delete what is old enough from then on. That there was a hold stays on record.</p>
          {change.error && <Fault error={change.error} />}
        </Confirm>
      )}
      {asking === 'hold' && (
        <Confirm
          title={`Hold shipment ${shipmentId}?`}
          action="Hold"
          busy={change.isPending || reason.trim() === ''}
          onConfirm={() => change.mutate('hold')}
          onClose={() => setAsking(null)}
        >
          <p>Nothing of it is deleted, by no policy and no erasure, until the hold is released.</p>
          <div className={parts.field}>
            <label htmlFor="hold-reason">Why</label>
            <textarea
              id="hold-reason"
              rows={2}
              maxLength={1000}
              required
              value={reason}
              onChange={(event) => setReason(event.target.value)}
            />
          </div>
          {change.error && <Fault error={change.error} />}
        </Confirm>
      )}
    </>
  );
}
