import { Badge } from '../parts/badge.tsx';
import { Time } from '../parts/time.tsx';
import type { Subscriber } from '../waybill.ts';

/** Whether a subscriber is sent anything, and if not why. */
export function Standing({ subscriber }: { subscriber: Subscriber }) {
  const { enabled, quarantine, breaker, throttledUntil } = subscriber;
  if (!enabled) return <Badge tone="plain">disabled</Badge>;
  if (quarantine)
    return (
      <>
        <Badge tone="bad">in quarantine</Badge> since <Time at={quarantine.since} />
      </>
    );
  if (breaker)
    return (
      <>
        <Badge tone="warn">breaker open</Badge> since <Time at={breaker.since} />, next try{' '}
        <Time at={breaker.openUntil} precise />
      </>
    );
  if (throttledUntil && Date.parse(throttledUntil) > Date.now())
    return (
      <>
        <Badge tone="warn">throttled</Badge> until <Time at={throttledUntil} precise />
      </>
    );
  return <Badge tone="good">open</Badge>;
}
