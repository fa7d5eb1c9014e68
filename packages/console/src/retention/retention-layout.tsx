import { Link, Outlet } from '@tanstack/react-router';
import css from '../shell/shell.module.css';

const PARTS = [
  { to: '/retention/policies', name: 'Policies' },
  { to: '/retention/runs', name: 'Runs' },
  { to: '/retention/holds', name: 'Holds' },
  { to: '/retention/erasures', name: 'Erasures' },
  { to: '/retention/proof', name: 'Prove a deletion' },
] as const;

export function RetentionLayout() {
  return (
    <>
      <nav className={`${css.nav} ${css.parts}`} aria-label="Retention">
        {PARTS.map(({ to, name }) => (
          <Link key={to} to={to} activeProps={{ 'aria-current': 'page' }}>
            {name}
          </Link>
        ))}
      </nav>
      <Outlet />
    </>
  );
}
