import { hostname } from 'node:os';
import { parseEnvironment } from '@waybill/shared/config/environment';
import { CONSUMER_GROUPS } from '@waybill/shared/contracts/topics';
import { startConsumerLoop } from '@waybill/shared/kafka/consumer-loop';
import { connect } from '@waybill/shared/runtime/connections';
import { listen } from '@waybill/shared/runtime/health';
import { refreshing } from '@waybill/shared/runtime/measure';
import { runService } from '@waybill/shared/runtime/service';
import { CredentialVault } from '@waybill/shared/sealing/credential-vault';
import { KeyRing } from '@waybill/shared/sealing/key-ring';
import { createSender } from '@waybill/shared/sending/send';
import { SubscriberSender } from '@waybill/shared/sending/subscriber-sender';
import { AuditLogStore } from '@waybill/shared/stores/audit-log';
import { ChainStore } from '@waybill/shared/stores/chains';
import { DeadLetterStore } from '@waybill/shared/stores/dead-letters';
import { DeliveryStore } from '@waybill/shared/stores/deliveries';
import { loadNamingKey } from '@waybill/shared/stores/installation';
import { LaneStore } from '@waybill/shared/stores/lanes';
import { ObservationStore } from '@waybill/shared/stores/observations';
import { ReplayStore } from '@waybill/shared/stores/replays';
import { RunStore } from '@waybill/shared/stores/runs';
import { ShipmentStore } from '@waybill/shared/stores/shipments';
import { StatusEventStore } from '@waybill/shared/stores/status-events';
import { SubscriberStore } from '@waybill/shared/stores/subscribers';
import { WakeStore } from '@waybill/shared/stores/wakes';
import { createLogger } from '@waybill/shared/telemetry/logger';
import { tombstones } from '@waybill/shared/telemetry/metrics';
import { schedulerEnvironment } from './config.ts';
import { CONSOLE_DIRECTORY } from './console/serve-console.ts';
import { watchAbandonedTransactions } from './end-abandoned-transactions.ts';
import { keepDeadLetters } from './fan-out/keep-dead-letters.ts';
import { onStatusEvents } from './fan-out/on-status-events.ts';
import { createApi } from './http/app.ts';
import { LiveFeed } from './live/live-feed.ts';
import { lookAround } from './live/look.ts';
import { measureBacklog } from './measure-backlog.ts';
import { retentionParts } from './retention/parts.ts';
import { startCron } from './ticks/cron.ts';
import { DispatchTick } from './ticks/dispatch-tick.ts';

/** Most test events under way at once to one origin. */
const TEST_CONNECTIONS = 4;
const FAN_OUT_GROUP = CONSUMER_GROUPS.scheduler;

runService(async ({ resources, fail }) => {
  const config = parseEnvironment(schedulerEnvironment, process.env);
  const logger = createLogger('scheduler', config.LOG_LEVEL);
  const writes = ['statusEvents', 'deliveryCommands', 'retentionTicks'] as const;
  const { kafka, codec, producer, database, clock, probe, checks } = await connect(
    'scheduler',
    config,
    writes,
    logger,
    resources,
  );
  const namingKey = await loadNamingKey(database.db);
  const events = new StatusEventStore(database.db);
  const subscribers = new SubscriberStore(database.db);
  const deliveries = new DeliveryStore(database.db);
  const chains = new ChainStore(database.db);
  const deadLetters = new DeadLetterStore(database.db);
  const lanes = new LaneStore(database.db);
  const runs = new RunStore(database.db);
  const worker = `${hostname()}/${process.pid}`;
  const visibilityMs = config.LEASE_MS;

  const dispatch = new DispatchTick({
    deliveries,
    lanes,
    events,
    deadLetters,
    runs,
    producer,
    clock,
    worker,
    visibilityMs,
  });
  const retention = retentionParts({
    ...{ db: database.db, namingKey, producer, clock, worker, logger },
    wallClock: () => new Date(),
  });
  const { deletedEvents } = retention;

  resources.add('watch of transactions', watchAbandonedTransactions(database, logger));
  const fanOut = await startConsumerLoop({
    kafka,
    codec,
    producer,
    topic: 'statusEvents',
    groupId: FAN_OUT_GROUP,
    handle: onStatusEvents({
      events,
      subscribers,
      chains,
      deletedEvents,
      producer,
      clock,
      namingKey,
      visibilityMs,
    }),
    logger,
    keepDeadLetters: keepDeadLetters(deadLetters, clock),
    onTombstone: () => tombstones.inc(),
    onCrash: fail,
  });
  resources.add('fan-out', () => fanOut.stop());
  resources.add(
    'dispatch cron',
    startCron('dispatch', config.DISPATCH_TICK_CRON, (slot) => dispatch.fire(slot), logger),
  );
  resources.add(
    'retention cron',
    startCron('retention', config.RETENTION_TICK_CRON, (slot) => retention.tick.run(slot), logger),
  );

  const vault = new CredentialVault(new KeyRing(config.WAYBILL_SECRET_KEYS));
  const plainSender = createSender({
    policy: config.WAYBILL_EGRESS_ALLOW,
    userAgent: 'Waybill/0.1.0',
    connectionsPerOrigin: TEST_CONNECTIONS,
  });
  const sender = new SubscriberSender(plainSender, vault);
  resources.add('sender', () => sender.close());
  // The process has their digests; a crash report or an inspector shall not show them.
  delete process.env.WAYBILL_API_KEYS;

  const observations = new ObservationStore(database.db);
  const watched = { observations, deliveries, subscribers, lanes, clock, probe, groupId: FAN_OUT_GROUP };
  const live = new LiveFeed(lookAround(watched), logger);
  const api = createApi({
    events,
    subscribers,
    deliveries,
    replays: new ReplayStore(database.db),
    deadLetters,
    shipments: new ShipmentStore(database.db),
    observations,
    live,
    deletedEvents,
    retention: retention.routes,
    lanes,
    wakes: new WakeStore(database.db),
    runs,
    auditLog: new AuditLogStore(database.db),
    producer,
    clock,
    namingKey,
    ticks: {
      dispatch: (slot) => dispatch.run(slot),
      retention: async (slot) => (await retention.tick.run(slot)).run,
    },
    vault,
    sender,
    apiKeys: config.WAYBILL_API_KEYS,
    requestsPerSecond: config.WAYBILL_API_RATE_PER_SECOND,
    egress: config.WAYBILL_EGRESS_ALLOW,
    jaegerUrl: config.WAYBILL_JAEGER_URL,
    consoleDirectory: CONSOLE_DIRECTORY,
    checks: { ...checks, consumption: fanOut.check },
    refresh: refreshing(
      measureBacklog({ deliveries, subscribers, lanes, clock, probe, groupId: FAN_OUT_GROUP }),
      logger,
    ),
    logger,
  });
  const server = await listen(api, config.HTTP_PORT, config.HTTP_HOST);
  resources.add('http server', () => server.close());
  // Before the server, which waits for open requests.
  resources.add('live feed', async () => live.close());
  logger.info({ port: server.port }, 'scheduler ready');
  return logger;
});
