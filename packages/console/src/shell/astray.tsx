import { Link } from '@tanstack/react-router';
import { Fault } from '../parts/notice.tsx';
import { Title } from '../parts/title.tsx';

export function NotFound() {
  return (
    <>
      <Title>There is no such page</Title>
      <p>
        <Link to="/">Go to the start</Link>
      </p>
    </>
  );
}

/** For what no page expected. */
export function Broken({ error }: { error: unknown }) {
  return (
    <>
      <Title>This page broke</Title>
      <Fault
        error={error instanceof Error ? error : new Error(String(error))}
        again={() => location.reload()}
      />
    </>
  );
}
