import { createRootRoute, createRoute, createRouter, redirect } from '@tanstack/react-router';
import { DeliveriesPage, deliveriesSearch } from './delivery/deliveries-page.tsx';
import { DeliveryPage } from './delivery/delivery-page.tsx';
import { Broken, NotFound } from './shell/astray.tsx';
import { KeyPage } from './shell/key-page.tsx';
import { Shell } from './shell/shell.tsx';
import { ShipmentPage, shipmentSearch } from './shipment/shipment-page.tsx';

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound });

const start = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/deliveries' });
  },
});

const shipment = createRoute({
  getParentRoute: () => root,
  path: '/shipments/$shipmentId',
  validateSearch: shipmentSearch,
  component: function Page() {
    return <ShipmentPage shipmentId={shipment.useParams().shipmentId} {...shipment.useSearch()} />;
  },
});

const deliveries = createRoute({
  getParentRoute: () => root,
  path: '/deliveries',
  validateSearch: deliveriesSearch,
  component: function Page() {
    return <DeliveriesPage filter={deliveries.useSearch()} />;
  },
});

const delivery = createRoute({
  getParentRoute: () => root,
  path: '/deliveries/$id',
  component: function Page() {
    return <DeliveryPage id={delivery.useParams().id} />;
  },
});

const key = createRoute({ getParentRoute: () => root, path: '/key', component: KeyPage });

export const router = createRouter({
  routeTree: root.addChildren([start, shipment, deliveries, delivery, key]),
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
