import type { UseQueryResult } from '@tanstack/react-query';
import { Fault, Loading } from './notice.tsx';

interface Props<Data> {
  readonly query: UseQueryResult<Data>;
  /** For people: "the delivery". */
  readonly what: string;
  readonly children: (data: Data) => React.ReactNode;
}

/** What a query found; until then that it is loading, and if it failed why. What was there stays while it is asked again. */
export function Loaded<Data>({ query, what, children }: Props<Data>) {
  const { data, error, refetch } = query;
  return (
    <>
      {error && <Fault error={error} again={() => void refetch()} />}
      {data === undefined ? !error && <Loading what={what} /> : children(data)}
    </>
  );
}
