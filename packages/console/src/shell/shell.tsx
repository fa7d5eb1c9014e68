import { useQuery } from '@tanstack/react-query';
import { Link, Outlet } from '@tanstack/react-router';
import { callerQuery } from '../permissions.ts';
import { signOut, useKey } from '../session.ts';
import { Find } from './find.tsx';
import css from './shell.module.css';
import { SignIn } from './sign-in.tsx';

const PAGES = [
  { to: '/now', name: 'Now' },
  { to: '/deliveries', name: 'Deliveries' },
  { to: '/subscribers', name: 'Subscribers' },
  { to: '/dead-letters', name: 'Dead letters' },
  { to: '/retention', name: 'Retention' },
] as const;

/** What stands around every page; without a key the question for one, at whatever address. */
export function Shell() {
  const key = useKey();
  return key === null ? <SignIn /> : <SignedIn key={key} />;
}

function SignedIn() {
  const { data: caller } = useQuery(callerQuery);
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
          {PAGES.map(({ to, name }) => (
            <Link key={to} to={to} activeProps={{ 'aria-current': 'page' }}>
              {name}
            </Link>
          ))}
        </nav>
        <Find />
        <div className={css.who}>
          <Link to="/key">{caller ? `${caller.name} (${caller.role})` : 'Your key'}</Link>
          <button type="button" onClick={signOut}>
            Sign out
          </button>
        </div>
      </header>
      <main id="main" className={css.main} tabIndex={-1}>
        <Outlet />
      </main>
    </>
  );
}
