import { useQuery } from '@tanstack/react-query';
import parts from '../parts/parts.module.css';
import { Loaded } from '../parts/query.tsx';
import { Scroll } from '../parts/scroll.tsx';
import { operationsQuery } from '../permissions.ts';

const ROLES = ['ingest', 'operator', 'admin'] as const;

/** Every call with the roles that may make it, as the API's own document has them. */
export function Roles() {
  const query = useQuery(operationsQuery);
  return (
    <Loaded query={query} what="what each role may do">
      {(operations) => (
        <Scroll name="Calls by role">
          <table>
            <thead>
              <tr>
                <th scope="col">What</th>
                {ROLES.map((role) => (
                  <th key={role} scope="col">
                    {role}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {operations.map(({ id, summary, roles }) => (
                <tr key={id}>
                  <th scope="row">{summary}</th>
                  {ROLES.map((role) => (
                    <td key={role}>{roles.includes(role) ? 'yes' : <span className={parts.why}>no</span>}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </Loaded>
  );
}
