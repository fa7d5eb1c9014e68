import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { OutcomeBadge } from '../parts/badge.tsx';
import { Fact, Facts } from '../parts/facts.tsx';
import { Loaded } from '../parts/query.tsx';
import { Time } from '../parts/time.tsx';
import { durationWords } from '../words/duration.ts';
import { codeWords } from '../words/wait-words.ts';
import { healthQuery } from './subscriber-queries.ts';

const MOST_COUNTED = 10_000;

/** `97.3 %`; of nothing a dash. Never 100 % where something failed. */
export function shareWords(part: number, whole: number): string {
  if (whole === 0) return '–';
  return `${Math.floor((part / whole) * 1_000) / 10} %`;
}

export function countWords(count: number): string {
  return count >= MOST_COUNTED ? `${MOST_COUNTED.toLocaleString()} or more` : count.toLocaleString();
}

/** How a subscriber fared lately, and what it is owed. */
export function Health({ id }: { id: string }) {
  const query = useQuery(healthQuery(id));
  return (
    <Loaded query={query} what="its health">
      {({ attempts, accepted, latencyMs, owed, oldestDueAt, lastFailure }) => (
        <Facts>
          <Fact name="Success">
            {attempts === 0
              ? 'nothing was sent yet'
              : `${shareWords(accepted, attempts)} of the last ${attempts === 1 ? 'attempt was' : `${attempts} attempts were`} accepted`}
          </Fact>
          <Fact name="Latency">
            {latencyMs
              ? `${durationWords(latencyMs.median)} in the middle, ${durationWords(latencyMs.p95)} for the slowest of twenty`
              : 'nothing was answered yet'}
          </Fact>
          <Fact name="Backlog">
            {owed === 0 ? 'nothing is owed' : `${countWords(owed)} owed`}
            {oldestDueAt && (
              <>
                , first due <Time at={oldestDueAt} />
              </>
            )}
          </Fact>
          <Fact name="Last error">
            {lastFailure === null ? (
              'none among them'
            ) : (
              <>
                <OutcomeBadge outcome={lastFailure.outcome} />{' '}
                <Link to="/deliveries/$id" params={{ id: lastFailure.deliveryId }}>
                  {lastFailure.reason === null ? 'not accepted' : codeWords(lastFailure.reason)}
                  {lastFailure.statusCode === null ? '' : `, HTTP ${lastFailure.statusCode}`}
                </Link>{' '}
                at <Time at={lastFailure.at} />. {lastFailure.explanation}
              </>
            )}
          </Fact>
        </Facts>
      )}
    </Loaded>
  );
}
