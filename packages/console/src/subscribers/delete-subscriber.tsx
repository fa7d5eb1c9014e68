import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { answerOf } from '@waybill/client';
import { useState } from 'react';
import { Confirm } from '../parts/confirm.tsx';
import { Fault } from '../parts/notice.tsx';
import parts from '../parts/parts.module.css';
import { usePermission } from '../permissions.ts';
import { waybill } from '../waybill.ts';
import { countWords } from './health.tsx';
import { healthQuery } from './subscriber-queries.ts';

/** Removes a subscriber, after saying what it is owed and asking for its id. Shown to who may. */
export function DeleteSubscriber({ id }: { id: string }) {
  const [asking, setAsking] = useState(false);
  if (!usePermission()('deleteSubscriber').allowed) return null;
  return (
    <>
      <button type="button" onClick={() => setAsking(true)}>
        Delete…
      </button>
      {asking && <Asked id={id} onClose={() => setAsking(false)} />}
    </>
  );
}

function Asked({ id, onClose }: { id: string; onClose: () => void }) {
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const health = useQuery(healthQuery(id));
  const [typed, setTyped] = useState('');
  const remove = useMutation({
    mutationFn: () => answerOf(waybill.DELETE('/v1/subscribers/{id}', { params: { path: { id } } })),
    async onSuccess() {
      await navigate({ to: '/subscribers' });
      queryClient.removeQueries({ queryKey: ['subscriber', id] });
      await queryClient.invalidateQueries({ queryKey: ['subscribers'] });
    },
  });
  const owed = health.data?.owed;
  return (
    <Confirm
      title={`Delete subscriber ${id}?`}
      action="Delete for good"
      busy={remove.isPending || owed === undefined || typed.trim() !== id}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    >
      {health.error && <Fault error={health.error} again={() => void health.refetch()} />}
      {owed === undefined && !health.error && <p role="status">Counting what it is owed…</p>}
      {owed !== undefined && (
        <p>
          <strong>{owedWords(owed)}</strong> It gets nothing more, and its secrets are removed. What it was
          sent stays on record. To keep what it is owed, disable it instead.
        </p>
      )}
      <div className={parts.field}>
        <label htmlFor="delete-id">Type its id to confirm</label>
        <input
          id="delete-id"
          autoComplete="off"
          spellCheck={false}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
      </div>
      {remove.error && <Fault error={remove.error} />}
    </Confirm>
  );
}

function owedWords(owed: number): string {
  if (owed === 0) return 'Nothing is owed to it, so no delivery is cancelled.';
  if (owed === 1)
    return '1 delivery that it is still owed is cancelled; if it is being sent, that ends first.';
  return `${countWords(owed)} deliveries that it is still owed are cancelled; those being sent end first.`;
}
