import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useMatches } from '@tanstack/react-router';
import type { OperationId } from '@waybill/client';
import { Title } from '../parts/title.tsx';
import { callerQuery, usePermission } from '../permissions.ts';
import { signOut, useKey } from '../session.ts';
import { Find } from './find.tsx';
import css from './shell.module.css';
import { SignIn } from './sign-in.tsx';

/** Each with the call that it is made of. */
const PAGES = [
  { to: '/now', name: 'Now', operation: 'watchLive' },
  { to: '/deliveries', name: 'Deliveries', operation: 'listDeliveries' },
  { to: '/subscribers', name: 'Subscribers', operation: 'listSubscribers' },
  { to: '/dead-letters', name: 'Dead letters', operation: 'listDeadLetters' },
  { to: '/retention', name: 'Retention', operation: 'listRetentionPolicies' },
  { to: '/audit', name: 'Audit', operation: 'listAudit' },
] as const;

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    /** The call that a page is made of: who may not make it is told so in its place. */
    readonly operation?: OperationId;
  }
}

/** What stands around every page; without a key the question for one, at whatever address. */
export function Shell() {
  const key = useKey();
  return key === null ? <SignIn /> : <SignedIn key={key} />;
}

function SignedIn() {
  const { data: caller } = useQuery(callerQuery);
  const permissionFor = usePermission();
  return (
    <>
      <a className={css.skip} href="#main">
        Skip to the page
      </a>
      <header className={css.top}>
        <Link className={css.name} to="/">
          Waybill
        </Link>
        <nav className={css.nav} aria-label="Pages">
          {PAGES.filter(({ operation }) => !permissionFor(operation).refused).map(({ to, name }) => (
            <Link key={to} to={to} activeProps={{ 'aria-current': 'page' }}>
              {name}
            </Link>
          ))}
        </nav>
        {!permissionFor('getShipment').refused && <Find />}
        <div className={css.who}>
          <Link to="/key">{caller ? `${caller.name} (${caller.role})` : 'Your key'}</Link>
          <button type="button" onClick={signOut}>
            Sign out
          </button>
        </div>
      </header>
      <main id="main" className={css.main} tabIndex={-1}>
        <Permitted>
          <Outlet />
        </Permitted>
      </main>
    </>
  );
}

/** The page, or why this key is not shown it. */
function Permitted({ children }: { children: React.ReactNode }) {
  const operation = useMatches({
    select: (matches) => matches.findLast(({ staticData }) => staticData.operation)?.staticData.operation,
  });
  const { refused, reason } = usePermission()(operation ?? 'getCaller');
  if (!refused) return children;
  return (
    <>
      <Title>Not for this key</Title>
      <p>
        This page {reason}. Sign out and use another key, or see <Link to="/key">what each role may do</Link>.
      </p>
    </>
  );
}
