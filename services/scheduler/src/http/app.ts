import type { ApiKey } from '@waybill/shared/config/environment';
import type { EgressPolicy } from '@waybill/shared/domain/egress-policy';
import type { Job } from '@waybill/shared/domain/run';
import { type Check, healthRoutes } from '@waybill/shared/runtime/health';
import { closeMethods, notFound, problemHandler } from '@waybill/shared/runtime/http-problems';
import type { DeadLetterStore } from '@waybill/shared/stores/dead-letters';
import type { DeliveryStore } from '@waybill/shared/stores/deliveries';
import type { LaneStore } from '@waybill/shared/stores/lanes';
import type { RunStore } from '@waybill/shared/stores/runs';
import type { SubscriberStore } from '@waybill/shared/stores/subscribers';
import type { Logger } from '@waybill/shared/telemetry/logger';
import type { Express, Router } from 'express';
import type { IngestDeps } from '../events/ingest.ts';
import { authentication } from './authentication.ts';
import { deadLetterRoutes } from './dead-letters.ts';
import { deliveryRoutes } from './deliveries.ts';
import { deliveryView } from './delivery-view.ts';
import { engineProblem } from './problems.ts';
import { type RetentionRoutesDeps, retentionRoutes } from './retention.ts';
import { runRoutes } from './runs.ts';
import { shipmentRoutes } from './shipments.ts';
import { statusEventRoutes } from './status-events.ts';
import { subscriberRoutes } from './subscribers.ts';
import { type Tick, tickRoutes } from './ticks.ts';

interface ApiDeps extends IngestDeps {
  readonly subscribers: SubscriberStore;
  readonly deliveries: DeliveryStore;
  readonly deadLetters: DeadLetterStore;
  readonly lanes: LaneStore;
  readonly runs: RunStore;
  readonly retention: RetentionRoutesDeps;
  readonly ticks: Readonly<Record<Job, Tick>>;
  readonly apiKeys: readonly ApiKey[];
  readonly egress: EgressPolicy;
  readonly jaegerUrl: string | undefined;
  readonly checks: Readonly<Record<string, Check>>;
  readonly logger: Logger;
}

/** The HTTP API. */
export function createApi(deps: ApiDeps): Express {
  const allow = authentication(deps.apiKeys);
  const app = healthRoutes(deps.checks);
  app.set('query parser', 'simple');
  const serve = (path: string, router: Router) => app.use(path, closeMethods(router));
  serve('/v1/status-events', statusEventRoutes(allow, deps));
  serve('/v1/subscribers', subscriberRoutes(allow, deps));
  serve('/v1/deliveries', deliveryRoutes(allow, deps.deliveries, deliveryView(deps.jaegerUrl)));
  serve('/v1/shipments', shipmentRoutes(allow, deps.events, deps.deliveries));
  serve('/v1/dead-letters', deadLetterRoutes(allow, deps));
  serve('/v1/retention', retentionRoutes(allow, deps.retention));
  serve('/v1/runs', runRoutes(allow, deps.runs));
  serve(
    '/v1/ticks',
    tickRoutes(allow, deps.ticks, () => deps.clock.now()),
  );
  app.use(notFound);
  app.use(problemHandler(deps.logger, engineProblem));
  return app;
}
