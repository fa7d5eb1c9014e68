/** How long leases last, in milliseconds, and how they outlive a request that takes longer than one. */

/** A lease is renewed so often while it lasts: one renewal may fail or be late without the lease being lost. */
const RENEWALS_PER_LEASE = 3;
/** What a renewal is given at least: one write that a majority of the database has to put on disk. */
const RENEWAL_MS = 333;
/** Longest that a delivery is held by a worker that died. */
const MAX_LEASE_MS = 600_000;
const MIN_LEASE_MS = 1_000;

/** Milliseconds between renewals. However long a request takes, its lease lasts as long as these come through. */
export function renewalInterval(leaseMs: number): number {
  return leaseMs / RENEWALS_PER_LEASE;
}

/** Why a lease cannot last so long, with the sums; null if it can. */
export function leaseFault(leaseMs: number): string | null {
  if (leaseMs < MIN_LEASE_MS) {
    const every = Math.floor(renewalInterval(leaseMs));
    return (
      `must be at least ${MIN_LEASE_MS}: a lease is renewed ${RENEWALS_PER_LEASE} times while it lasts, with ` +
      `${leaseMs} every ${every} ms, and a write to a majority of the database is given ${RENEWAL_MS} ms`
    );
  }
  if (leaseMs > MAX_LEASE_MS) {
    return (
      `must be at most ${MAX_LEASE_MS}: a delivery of a worker that died would wait ${leaseMs} ms; a request ` +
      'that takes longer than its lease needs no longer one, it is renewed'
    );
  }
  return null;
}
