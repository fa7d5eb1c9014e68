import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { ApiError, answerOf } from '@waybill/client';
import { stateWords } from '../parts/badge.tsx';
import { Fact, Facts } from '../parts/facts.tsx';
import { FilterForm } from '../parts/filter-form.tsx';
import { Empty, Notice } from '../parts/notice.tsx';
import parts from '../parts/parts.module.css';
import { Prose } from '../parts/prose.tsx';
import { Loaded } from '../parts/query.tsx';
import { Time } from '../parts/time.tsx';
import { Title } from '../parts/title.tsx';
import { textsIn } from '../search.ts';
import { waybill } from '../waybill.ts';

export const proofSearch = (search: Record<string, unknown>) => textsIn(search, ['deliveryId']);

/** Where a delivery is: gone, when and under which rule; or here, and why. */
export function ProofPage({ deliveryId }: { deliveryId?: string }) {
  const navigate = useNavigate();
  return (
    <>
      <Title>Prove a deletion</Title>
      <FilterForm
        fields={[{ name: 'deliveryId', label: 'Delivery id (its idempotency key)' }]}
        values={deliveryId === undefined ? {} : { deliveryId }}
        action="Prove"
        onShow={(search) => void navigate({ to: '/retention/proof', search })}
      />
      {deliveryId === undefined ? (
        <Empty>
          The ledger knows no id in clear: who asks has to have the id. A subscriber has it, as
          Idempotency-Key.
        </Empty>
      ) : (
        <Proof deliveryId={deliveryId} />
      )}
    </>
  );
}

function Proof({ deliveryId }: { deliveryId: string }) {
  const query = useQuery({
    queryKey: ['proof', deliveryId],
    queryFn: () =>
      answerOf(waybill.GET('/v1/retention/proofs/{deliveryId}', { params: { path: { deliveryId } } })),
  });
  if (query.error instanceof ApiError && query.error.status === 404)
    return (
      <Notice tone="warn">
        <p>There is no such delivery, and the ledger does not say that there was one.</p>
      </Notice>
    );
  return (
    <Loaded query={query} what="the proof">
      {(proof) => (
        <>
          {proof.state === 'gone' && (
            <Notice tone="good">
              <p>It is gone, and the ledger proves it: every entry below stands in the chain of its run.</p>
            </Notice>
          )}
          {proof.state === 'unproven' && (
            <Notice tone="warn">
              <p>
                It is not here, and no entry for it stands in its chain: somebody changed the ledger or the
                run.
              </p>
            </Notice>
          )}
          {proof.state === 'present' && (
            <Notice tone="warn">
              <p>
                It is here (
                <Link to="/deliveries/$id" params={{ id: deliveryId }}>
                  {stateWords(proof.delivery.state)}
                </Link>
                ), because:
              </p>
              <ul>
                {proof.because.map((reason) => (
                  <li key={reason}>
                    <Prose text={reason} />
                  </li>
                ))}
              </ul>
            </Notice>
          )}
          {proof.faults.length > 0 && (
            <ul>
              {proof.faults.map((fault) => (
                <li key={fault}>
                  <Prose text={fault} />
                </li>
              ))}
            </ul>
          )}
          {proof.entries.map((entry) => (
            <article key={entry.operationKey} className={parts.notice} aria-label="Ledger entry">
              <Facts>
                <Fact name="Deleted">
                  <Time at={entry.deletedAt} />
                </Fact>
                <Fact name="Why">
                  {entry.reason === 'retention'
                    ? `policy ${entry.policyId}, version ${entry.policyVersion}`
                    : 'an erasure'}
                </Fact>
                <Fact name="Closed before that">
                  <Time at={entry.terminalAt} />, before the cutoff <Time at={entry.cutoff} />
                </Fact>
                <Fact name="Run">
                  <Link to="/retention/runs/$runId" params={{ runId: entry.runId }}>
                    {entry.runId}
                  </Link>
                </Fact>
                <Fact name="SHA-256 of what was deleted">
                  <code>{entry.digest}</code>
                </Fact>
                <Fact name="Hash of this entry">
                  <code>{entry.hash}</code>
                </Fact>
              </Facts>
            </article>
          ))}
        </>
      )}
    </Loaded>
  );
}
