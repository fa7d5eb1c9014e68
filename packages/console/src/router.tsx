import { createRootRoute, createRoute, createRouter, redirect } from '@tanstack/react-router';
import type { OperationId } from '@waybill/client';
import { AuditPage, auditSearch } from './audit/audit-page.tsx';
import { deadLettersSearch } from './dead-letters/dead-filter.ts';
import { DeadLettersPage } from './dead-letters/dead-letters-page.tsx';
import { DeliveriesPage, deliveriesSearch } from './delivery/deliveries-page.tsx';
import { DeliveryPage } from './delivery/delivery-page.tsx';
import { NowPage } from './now/now-page.tsx';
import { ErasurePage, ErasuresPage, erasuresSearch } from './retention/erasures-page.tsx';
import { HoldsPage } from './retention/holds-page.tsx';
import { PoliciesPage } from './retention/policies-page.tsx';
import { ProofPage, proofSearch } from './retention/proof-page.tsx';
import { RetentionLayout } from './retention/retention-layout.tsx';
import { RunPage, RunsPage, runsSearch } from './retention/runs-page.tsx';
import { Broken, NotFound } from './shell/astray.tsx';
import { KeyPage } from './shell/key-page.tsx';
import { Shell } from './shell/shell.tsx';
import { ShipmentPage, shipmentSearch } from './shipment/shipment-page.tsx';
import { EditSubscriberPage, NewSubscriberPage } from './subscribers/edit-page.tsx';
import { SubscriberPage } from './subscribers/subscriber-page.tsx';
import { SubscribersPage } from './subscribers/subscribers-page.tsx';

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound });
const under = { getParentRoute: () => root } as const;

/** The first segment of each is in `CONSOLE_PATHS`, which the scheduler answers with the console. */
const start = createRoute({
  ...under,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/now' });
  },
});
const may = (operation: OperationId) => ({ staticData: { operation } });
const now = createRoute({ ...under, path: '/now', ...may('watchLive'), component: NowPage });
const key = createRoute({ ...under, path: '/key', component: KeyPage });
const shipment = createRoute({
  ...under,
  path: '/shipments/$shipmentId',
  ...may('getShipment'),
  validateSearch: shipmentSearch,
  component: function Page() {
    return <ShipmentPage {...shipment.useSearch()} {...shipment.useParams()} />;
  },
});
const deliveries = createRoute({
  ...under,
  path: '/deliveries',
  ...may('listDeliveries'),
  validateSearch: deliveriesSearch,
  component: function Page() {
    return <DeliveriesPage filter={deliveries.useSearch()} />;
  },
});
const delivery = createRoute({
  ...under,
  path: '/deliveries/$id',
  ...may('getDelivery'),
  component: function Page() {
    return <DeliveryPage {...delivery.useParams()} />;
  },
});
const subscribers = createRoute({
  ...under,
  path: '/subscribers',
  ...may('listSubscribers'),
  component: SubscribersPage,
});
const newSubscriber = createRoute({
  ...under,
  path: '/subscribers/new',
  ...may('putSubscriber'),
  component: NewSubscriberPage,
});
const subscriber = createRoute({
  ...under,
  path: '/subscribers/$id',
  ...may('getSubscriber'),
  component: function Page() {
    return <SubscriberPage {...subscriber.useParams()} />;
  },
});
const editSubscriber = createRoute({
  ...under,
  path: '/subscribers/$id/edit',
  ...may('putSubscriber'),
  component: function Page() {
    return <EditSubscriberPage {...editSubscriber.useParams()} />;
  },
});
const deadLetters = createRoute({
  ...under,
  path: '/dead-letters',
  ...may('listDeadLetters'),
  validateSearch: deadLettersSearch,
  component: function Page() {
    return <DeadLettersPage filter={deadLetters.useSearch()} />;
  },
});
const audit = createRoute({
  ...under,
  path: '/audit',
  ...may('listAudit'),
  validateSearch: auditSearch,
  component: function Page() {
    return <AuditPage filter={audit.useSearch()} />;
  },
});
const retention = createRoute({
  ...under,
  path: '/retention',
  ...may('listRetentionPolicies'),
  component: RetentionLayout,
});
const ofRetention = { getParentRoute: () => retention } as const;
const retentionStart = createRoute({
  ...ofRetention,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/retention/policies' });
  },
});
const policies = createRoute({ ...ofRetention, path: '/policies', component: PoliciesPage });
const runs = createRoute({
  ...ofRetention,
  path: '/runs',
  validateSearch: runsSearch,
  component: function Page() {
    return <RunsPage {...runs.useSearch()} />;
  },
});
const run = createRoute({
  ...ofRetention,
  path: '/runs/$runId',
  component: function Page() {
    return <RunPage {...run.useParams()} />;
  },
});
const holds = createRoute({ ...ofRetention, path: '/holds', component: HoldsPage });
const erasures = createRoute({
  ...ofRetention,
  path: '/erasures',
  validateSearch: erasuresSearch,
  component: function Page() {
    return <ErasuresPage search={erasures.useSearch()} />;
  },
});
const erasure = createRoute({
  ...ofRetention,
  path: '/erasures/$id',
  component: function Page() {
    return <ErasurePage {...erasure.useParams()} />;
  },
});
const proof = createRoute({
  ...ofRetention,
  path: '/proof',
  validateSearch: proofSearch,
  component: function Page() {
    return <ProofPage {...proof.useSearch()} />;
  },
});

export const router = createRouter({
  routeTree: root.addChildren([
    ...[start, now, key, shipment, deliveries, delivery],
    ...[subscribers, newSubscriber, subscriber, editSubscriber, deadLetters, audit],
    retention.addChildren([retentionStart, policies, runs, run, holds, erasures, erasure, proof]),
  ]),
  defaultErrorComponent: Broken,
  // Addresses hold what they say: `?state=dead`, as the API takes it.
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const said = Object.entries(search).filter(([, value]) => value !== undefined && value !== '');
    const text = new URLSearchParams(said as [string, string][]).toString();
    return text === '' ? '' : `?${text}`;
  },
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
