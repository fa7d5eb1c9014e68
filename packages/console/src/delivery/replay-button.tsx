import { useMutation, useQueryClient } from '@tanstack/react-query';
import { answerOf } from '@waybill/client';
import { useState } from 'react';
import { Confirm } from '../parts/confirm.tsx';
import { GuardedButton } from '../parts/guarded-button.tsx';
import { Fault } from '../parts/notice.tsx';
import parts from '../parts/parts.module.css';
import { type Delivery, waybill } from '../waybill.ts';
import { deliveryQuery } from './delivery-query.ts';

const REPLAYABLE: readonly string[] = ['delivered', 'dead', 'cancelled'];

/** Makes a closed delivery owed again. */
export function ReplayButton({ delivery: { id, state, subscriberId } }: { delivery: Delivery }) {
  const queryClient = useQueryClient();
  const [asking, setAsking] = useState(false);
  const replay = useMutation({
    mutationFn: () => answerOf(waybill.POST('/v1/deliveries/{id}/replay', { params: { path: { id } } })),
    onSuccess: (delivery) => {
      queryClient.setQueryData(deliveryQuery(id).queryKey, delivery);
      setAsking(false);
    },
  });
  if (!REPLAYABLE.includes(state)) return null;
  return (
    <div className={parts.actions}>
      <GuardedButton
        operation="replayDelivery"
        primary={state !== 'delivered'}
        onPress={() => setAsking(true)}
      >
        Replay
      </GuardedButton>
      {asking && (
        <Confirm
          title="Replay this delivery?"
          action="Replay"
          busy={replay.isPending}
          onConfirm={() => replay.mutate()}
          onClose={() => setAsking(false)}
        >
          <p>
            {subscriberId} is sent the same bytes again, under the same idempotency key.{' '}
            {state === 'delivered'
              ? 'It accepted this delivery already: only a receiver that compares keys will not take it twice.'
              : 'The limits on attempts and time begin anew.'}
          </p>
          {replay.error && <Fault error={replay.error} />}
        </Confirm>
      )}
    </div>
  );
}
