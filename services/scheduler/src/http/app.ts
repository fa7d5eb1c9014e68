import type { ApiKey } from '@waybill/shared/config/environment';
import type { EgressPolicy } from '@waybill/shared/domain/egress-policy';
import type { Job } from '@waybill/shared/domain/run';
import { type Check, healthRoutes } from '@waybill/shared/runtime/health';
import { closeMethods, notFound, problemHandler } from '@waybill/shared/runtime/http-problems';
import type { Refresh } from '@waybill/shared/runtime/measure';
import type { CredentialVault } from '@waybill/shared/sealing/credential-vault';
import type { SubscriberSender } from '@waybill/shared/sending/subscriber-sender';
import type { AuditLogStore } from '@waybill/shared/stores/audit-log';
import type { DeliveryStore } from '@waybill/shared/stores/deliveries';
import type { LaneStore } from '@waybill/shared/stores/lanes';
import type { ObservationStore } from '@waybill/shared/stores/observations';
import type { ReplayStore } from '@waybill/shared/stores/replays';
import type { RunStore } from '@waybill/shared/stores/runs';
import type { ShipmentStore } from '@waybill/shared/stores/shipments';
import type { SubscriberStore } from '@waybill/shared/stores/subscribers';
import type { WakeStore } from '@waybill/shared/stores/wakes';
import type { Logger } from '@waybill/shared/telemetry/logger';
import type { Express } from 'express';
import { serveConsole } from '../console/serve-console.ts';
import type { IngestDeps } from '../events/ingest.ts';
import type { LiveFeed } from '../live/live-feed.ts';
import { mount } from './mount.ts';
import { openApiDocument } from './openapi.ts';
import { engineProblem } from './problems.ts';
import { parseQuery } from './query.ts';
import type { RetentionDeps } from './retention.ts';
import { ROUTES } from './routes.ts';
import type { Tick } from './ticks.ts';

interface ApiDeps extends IngestDeps {
  readonly subscribers: SubscriberStore;
  readonly deliveries: DeliveryStore;
  readonly replays: ReplayStore;
  readonly shipments: ShipmentStore;
  readonly observations: ObservationStore;
  readonly live: LiveFeed;
  readonly lanes: LaneStore;
  readonly wakes: WakeStore;
  readonly runs: RunStore;
  readonly auditLog: AuditLogStore;
  readonly retention: RetentionDeps;
  readonly ticks: Readonly<Record<Job, Tick>>;
  readonly apiKeys: readonly ApiKey[];
  readonly vault: CredentialVault;
  /** For test events. */
  readonly sender: SubscriberSender;
  /** Most requests per second of one API key. */
  readonly requestsPerSecond: number;
  readonly egress: EgressPolicy;
  /** Where people look at traces; without it there is no link. */
  readonly jaegerUrl: string | undefined;
  readonly checks: Readonly<Record<string, Check>>;
  /** Measures what `/metrics` shows and has to be asked for. */
  readonly refresh?: Refresh;
  /** Where the built console is, or will be. */
  readonly consoleDirectory: string;
  readonly logger: Logger;
}

/** The HTTP API, and the console. */
export function createApi(deps: ApiDeps): Express {
  const app = healthRoutes(deps.checks, deps.refresh);
  app.set('query parser', parseQuery);
  const document = JSON.stringify(openApiDocument(ROUTES));
  app.get('/openapi.json', (_request, response) => {
    response.type('application/json').send(document);
  });
  mount(app, ROUTES, deps);
  serveConsole(app, deps.consoleDirectory);
  closeMethods(app.router);
  app.use(notFound);
  app.use(problemHandler(deps.logger, engineProblem));
  return app;
}
