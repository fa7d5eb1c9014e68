import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { answerOf } from '@waybill/client';
import { useState } from 'react';
import { stateWords } from '../parts/badge.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { Fault } from '../parts/notice.tsx';
import parts from '../parts/parts.module.css';
import { usePermission } from '../permissions.ts';
import { waybill } from '../waybill.ts';

type Open = 'wait' | 'cancel';

/** Asks for an erasure, after saying what it would delete. Shown to who may. */
export function EraseShipment({ shipmentId: suggested }: { shipmentId: string }) {
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const { allowed, reason: whyNot } = usePermission()('eraseShipment');
  const [shipmentId, setShipmentId] = useState(suggested);
  const [reason, setReason] = useState('');
  const [open, setOpen] = useState<Open>('wait');
  const [asking, setAsking] = useState(false);
  const erase = useMutation({
    mutationFn: () => {
      const body = { shipmentId: shipmentId.trim(), reason: reason.trim(), open };
      return answerOf(waybill.POST('/v1/retention/erasures', { body }));
    },
    async onSuccess({ erasureId }) {
      await queryClient.invalidateQueries({ queryKey: ['erasures'] });
      await navigate({ to: '/retention/erasures/$id', params: { id: erasureId } });
    },
  });
  if (!allowed) return whyNot && <p className={parts.why}>Asking for one {whyNot}.</p>;
  return (
    <form
      className={parts.form}
      aria-label="Erase a shipment"
      onSubmit={(event) => {
        event.preventDefault();
        erase.reset();
        setAsking(true);
      }}
    >
      <div className={parts.field}>
        <label htmlFor="e-shipment">Shipment to erase</label>
        <input
          id="e-shipment"
          required
          maxLength={128}
          autoComplete="off"
          value={shipmentId}
          onChange={(event) => setShipmentId(event.target.value)}
        />
      </div>
      <div className={parts.field}>
        <label htmlFor="e-reason">Why</label>
        <input
          id="e-reason"
          required
          maxLength={1_000}
          autoComplete="off"
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
      </div>
      <div className={parts.field}>
        <label htmlFor="e-open">What is still owed</label>
        <select id="e-open" value={open} onChange={(event) => setOpen(event.target.value as Open)}>
          <option value="wait">wait until it is closed</option>
          <option value="cancel">cancel it</option>
        </select>
      </div>
      <button type="submit" disabled={shipmentId.trim() === '' || reason.trim() === ''}>
        Erase…
      </button>
      {asking && (
        <Confirm
          title={`Erase everything of ${shipmentId.trim()}?`}
          action="Erase for good"
          busy={erase.isPending}
          onConfirm={() => erase.mutate()}
          onClose={() => setAsking(false)}
        >
          <WhatThereIs shipmentId={shipmentId.trim()} />
          <p>
            Its events, deliveries and messages are deleted and cannot be brought back. What is still owed is{' '}
            {open === 'cancel' ? 'cancelled; a request that is under way ends first' : 'waited for'}. The
            ledger keeps that they were deleted, not what they held. <em>Why</em> is kept: name nobody in it.
          </p>
          {erase.error && <Fault error={erase.error} />}
        </Confirm>
      )}
    </form>
  );
}

/** How much of it there is; its first page says enough. */
function WhatThereIs({ shipmentId }: { shipmentId: string }) {
  const { data, error } = useQuery({
    queryKey: ['shipment', shipmentId, 'counts'],
    queryFn: () => answerOf(waybill.GET('/v1/shipments/{shipmentId}', { params: { path: { shipmentId } } })),
    retry: false,
  });
  if (error) return <Fault error={error} />;
  if (!data) return <p role="status">Counting…</p>;
  const { versions, nextCursor } = data;
  const counts = new Map<string, number>();
  for (const { deliveryCounts } of versions)
    for (const [state, count] of Object.entries(deliveryCounts))
      counts.set(state, (counts.get(state) ?? 0) + count);
  const said = [...counts]
    .filter(([, count]) => count > 0)
    .map(([state, count]) => `${count} ${stateWords(state)}`);
  return (
    <p>
      There {versions.length === 1 ? 'is' : 'are'} {nextCursor ? 'at least ' : ''}
      <strong>
        {versions.length} {versions.length === 1 ? 'version' : 'versions'}
      </strong>{' '}
      of it; deliveries: {said.join(', ') || 'none'}.
    </p>
  );
}
