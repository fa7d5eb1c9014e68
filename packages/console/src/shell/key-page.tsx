import { useQuery } from '@tanstack/react-query';
import { Fact, Facts } from '../parts/facts.tsx';
import { Loaded } from '../parts/query.tsx';
import { Title } from '../parts/title.tsx';
import { callerQuery } from '../permissions.ts';
import { Roles } from './roles.tsx';

/** The key that is signed in, and what it may do. */
export function KeyPage() {
  const query = useQuery(callerQuery);
  return (
    <>
      <Title>Your key</Title>
      <Loaded query={query} what="your key">
        {({ name, role }) => (
          <Facts>
            <Fact name="Name">{name}</Fact>
            <Fact name="Role">{role}</Fact>
          </Facts>
        )}
      </Loaded>
      <h2>What each role may do</h2>
      <Roles />
    </>
  );
}
