import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { parseEnvironment } from '@waybill/shared/config/environment';
import { CONSUMER_GROUPS, TOPICS } from '@waybill/shared/contracts/topics';
import { startConsumerLoop } from '@waybill/shared/kafka/consumer-loop';
import { connect } from '@waybill/shared/runtime/connections';
import { healthApp, listen } from '@waybill/shared/runtime/health';
import { refreshing } from '@waybill/shared/runtime/measure';
import { runService } from '@waybill/shared/runtime/service';
import { CredentialVault } from '@waybill/shared/sealing/credential-vault';
import { KeyRing } from '@waybill/shared/sealing/key-ring';
import { createSender } from '@waybill/shared/sending/send';
import { SubscriberSender } from '@waybill/shared/sending/subscriber-sender';
import { DeliveryStore } from '@waybill/shared/stores/deliveries';
import { LaneStore } from '@waybill/shared/stores/lanes';
import { LeaseStore } from '@waybill/shared/stores/leases';
import { StatusEventStore } from '@waybill/shared/stores/status-events';
import { SubscriberStore } from '@waybill/shared/stores/subscribers';
import { TurnStore } from '@waybill/shared/stores/turns';
import { createLogger } from '@waybill/shared/telemetry/logger';
import { consumerLag } from '@waybill/shared/telemetry/metrics';
import { dispatcherEnvironment } from './config.ts';
import { Dispatch, MAX_IN_FLIGHT } from './dispatch.ts';
import { Lanes } from './lanes/lanes.ts';
import { onCommands } from './on-commands.ts';
import { Settler } from './settler.ts';

/** How long requests under way may take to end when the process stops, in milliseconds. */
const DRAIN_MS = 5_000;

const COMMANDS_GROUP = CONSUMER_GROUPS.dispatcher;
const LAG_WITHIN_MS = 1_500;

runService(async ({ resources, fail }) => {
  const config = parseEnvironment(dispatcherEnvironment, process.env);
  const logger = createLogger('dispatcher', config.LOG_LEVEL);
  const writes = ['deliveryDeadLetters'] as const;
  const { kafka, codec, producer, database, clock, probe, checks } = await connect(
    'dispatcher',
    config,
    writes,
    logger,
    resources,
  );
  const leases = new LeaseStore(database.db);
  const plainSender = createSender({
    policy: config.WAYBILL_EGRESS_ALLOW,
    userAgent: 'Waybill/0.1.0',
    connectionsPerOrigin: MAX_IN_FLIGHT,
  });
  const vault = new CredentialVault(new KeyRing(config.WAYBILL_SECRET_KEYS));
  const sender = new SubscriberSender(plainSender, vault);
  resources.add('sender', () => sender.close());

  const subscribers = new SubscriberStore(database.db);
  const instance = randomUUID();
  const dispatch = new Dispatch({
    leases,
    deliveries: new DeliveryStore(database.db),
    turns: new TurnStore(database.db),
    events: new StatusEventStore(database.db),
    subscribers,
    lanes: new Lanes({ store: new LaneStore(database.db), subscribers, clock, instance, logger }),
    sender,
    settler: new Settler(leases, producer, logger),
    clock,
    claimer: {
      worker: config.WAYBILL_WORKER ?? `${hostname()}/${process.pid}`,
      instance,
      leaseMs: config.LEASE_MS,
    },
    logger,
  });
  dispatch.start();
  resources.add('dispatch', () => dispatch.stop(DRAIN_MS));

  const loop = await startConsumerLoop({
    kafka,
    codec,
    producer,
    topic: 'deliveryCommands',
    groupId: COMMANDS_GROUP,
    handle: onCommands(dispatch),
    logger,
    onCrash: fail,
  });
  resources.add('consumer loop', () => loop.stop());

  const measureLag = async (): Promise<void> => {
    const lag = await probe.lag('deliveryCommands', COMMANDS_GROUP, LAG_WITHIN_MS);
    const labels = {
      messaging_destination_name: TOPICS.deliveryCommands.name,
      messaging_consumer_group_name: COMMANDS_GROUP,
    };
    consumerLag.set(labels, lag);
  };
  const health = healthApp({ ...checks, consumption: loop.check }, logger, refreshing(measureLag, logger));
  const server = await listen(health, config.HTTP_PORT, config.HTTP_HOST);
  resources.add('http server', () => server.close());
  logger.info({ port: server.port }, 'dispatcher ready');
  return logger;
});
