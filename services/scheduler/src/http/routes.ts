import { auditRoutes } from './audit.ts';
import { callerRoutes } from './caller.ts';
import { deadLetterRoutes } from './dead-letters.ts';
import { deliveryRoutes } from './deliveries.ts';
import { liveRoutes } from './live.ts';
import { observationRoutes } from './observations.ts';
import { retentionRoutes } from './retention.ts';
import { proofRoutes } from './retention-proof.ts';
import { runRoutes } from './runs.ts';
import { shipmentRoutes } from './shipments.ts';
import { statusEventRoutes } from './status-events.ts';
import { subscriberRoutes } from './subscribers.ts';
import { tickRoutes } from './ticks.ts';

/** Every call that needs a key: what is served, what is documented and what is tested are this one table. */
export const ROUTES = [
  ...statusEventRoutes,
  ...subscriberRoutes,
  ...deliveryRoutes,
  ...shipmentRoutes,
  ...deadLetterRoutes,
  ...runRoutes,
  ...tickRoutes,
  ...retentionRoutes,
  ...proofRoutes,
  ...auditRoutes,
  ...observationRoutes,
  ...liveRoutes,
  ...callerRoutes,
];
