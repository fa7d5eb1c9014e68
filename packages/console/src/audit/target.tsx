import { Link } from '@tanstack/react-router';

/** What something was done to, with the way to it where it has a page. */
export function Target({ target }: { target: string }) {
  const [, kind = '', id = ''] = /^(retention\/\w+|[\w-]+)\/(.+)$/.exec(target) ?? [];
  switch (kind) {
    case 'subscribers':
      return (
        <Link to="/subscribers/$id" params={{ id }}>
          {target}
        </Link>
      );
    case 'deliveries':
      // A replay of many names none.
      return id === 'replay' ? (
        target
      ) : (
        <Link to="/deliveries/$id" params={{ id }}>
          {target}
        </Link>
      );
    case 'retention/holds':
      return (
        <Link to="/shipments/$shipmentId" params={{ shipmentId: id }}>
          {target}
        </Link>
      );
    case 'retention/policies':
      return <Link to="/retention/policies">{target}</Link>;
    case 'retention/erasures':
      return (
        <Link to="/retention/erasures/$id" params={{ id }}>
          {target}
        </Link>
      );
    default:
      return target;
  }
}
