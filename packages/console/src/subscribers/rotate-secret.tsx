import { useMutation, useQueryClient } from '@tanstack/react-query';
import { answerOf } from '@waybill/client';
import { useState } from 'react';
import { Confirm } from '../parts/confirm.tsx';
import { Fault, Notice } from '../parts/notice.tsx';
import parts from '../parts/parts.module.css';
import { Time } from '../parts/time.tsx';
import { waybill } from '../waybill.ts';
import { subscriberQuery } from './subscriber-queries.ts';

const HOUR_SECONDS = 3_600;
const OVERLAPS = [
  { hours: 0, words: 'none: the present secret ends at once' },
  { hours: 1, words: 'an hour' },
  { hours: 24, words: 'a day' },
  { hours: 24 * 7, words: 'a week' },
  { hours: 24 * 30, words: '30 days' },
] as const;

/** Puts a new signing secret in the place of the present one; it is shown this once. */
export function RotateSecret({ id, onClose }: { id: string; onClose: () => void }) {
  const queryClient = useQueryClient();
  const [hours, setHours] = useState(24);
  const rotate = useMutation({
    mutationFn: () =>
      answerOf(
        waybill.POST('/v1/subscribers/{id}/rotate-secret', {
          params: { path: { id } },
          body: { overlapSeconds: hours * HOUR_SECONDS },
        }),
      ),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: subscriberQuery(id).queryKey }),
  });
  const { data } = rotate;
  if (data)
    return (
      <Notice tone="good">
        <p>
          {data.secret !== null
            ? 'The new secret, shown this once:'
            : 'The new public key, which receivers verify with:'}{' '}
          <code>{data.secret ?? data.publicKey}</code>
        </p>
        <p>
          The one before is valid too until <Time at={data.previousExpiresAt} />.
        </p>
        <button type="button" onClick={onClose}>
          I have kept it
        </button>
      </Notice>
    );
  return (
    <Confirm
      title={`Rotate the signing secret of ${id}?`}
      action="Rotate"
      busy={rotate.isPending}
      onConfirm={() => rotate.mutate()}
      onClose={onClose}
    >
      <p>
        A new secret is made and shown once. While both are valid, each request carries a signature by either.
      </p>
      <div className={parts.field}>
        <label htmlFor="overlap">Both valid for</label>
        <select id="overlap" value={hours} onChange={(event) => setHours(Number(event.target.value))}>
          {OVERLAPS.map(({ hours: value, words }) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
      </div>
      {rotate.error && <Fault error={rotate.error} />}
    </Confirm>
  );
}
