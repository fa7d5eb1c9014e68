import { useMutation } from '@tanstack/react-query';
import { answerOf } from '@waybill/client';
import { GuardedButton } from '../parts/guarded-button.tsx';
import { Fault, Notice } from '../parts/notice.tsx';
import parts from '../parts/parts.module.css';
import { waybill } from '../waybill.ts';

/** Recomputes the chains of a run in the ledger and says whether they hold. */
export function Verification({ runId }: { runId: string }) {
  const verify = useMutation({
    mutationFn: () =>
      answerOf(waybill.GET('/v1/retention/runs/{runId}/verification', { params: { path: { runId } } })),
  });
  const { data } = verify;
  return (
    <>
      <div className={parts.actions}>
        <GuardedButton
          operation="verifyRetentionRun"
          disabled={verify.isPending}
          onPress={() => verify.mutate()}
        >
          {verify.isPending ? 'Verifying…' : 'Verify against the ledger'}
        </GuardedButton>
      </div>
      {verify.error && <Fault error={verify.error} />}
      {data?.verified && (
        <Notice tone="good">
          <p>
            The ledger holds: {data.entries.toLocaleString()} entries for {data.deleted.toLocaleString()}{' '}
            deleted records, every one in its chain.
          </p>
        </Notice>
      )}
      {data && !data.verified && (
        <Notice tone="warn">
          <p>
            {data.faults.length > 0
              ? 'The ledger does not hold:'
              : data.finished
                ? 'The counts of the run and its ledger differ.'
                : 'The run has not ended; what is there so far holds.'}
          </p>
          <ul>
            {data.faults.map(({ shard, seq, message }) => (
              <li key={`${shard} ${seq} ${message}`}>
                Shard {shard}, entry {seq}: {message}
              </li>
            ))}
          </ul>
        </Notice>
      )}
    </>
  );
}
