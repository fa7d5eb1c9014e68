import { parseEnvironment } from '@waybill/shared/config/environment';
import { CONSUMER_GROUPS } from '@waybill/shared/contracts/topics';
import { ledgerKeyOf } from '@waybill/shared/domain/retention-ledger';
import { startConsumerLoop } from '@waybill/shared/kafka/consumer-loop';
import { connect } from '@waybill/shared/runtime/connections';
import { healthApp, listen } from '@waybill/shared/runtime/health';
import { runService } from '@waybill/shared/runtime/service';
import { loadNamingKey } from '@waybill/shared/stores/installation';
import { RetentionErasureStore } from '@waybill/shared/stores/retention-erasures';
import { RetentionRunStore } from '@waybill/shared/stores/retention-runs';
import { RetentionShardStore } from '@waybill/shared/stores/retention-shards';
import { RetentionSweepStore } from '@waybill/shared/stores/retention-sweep';
import { RetentionSweepingStore } from '@waybill/shared/stores/retention-sweeping';
import { SubscriberStore } from '@waybill/shared/stores/subscribers';
import { createLogger } from '@waybill/shared/telemetry/logger';
import { sweeperEnvironment } from './config.ts';
import { onRetentionTick } from './on-retention-tick.ts';
import { Sweep } from './sweep.ts';

runService(async ({ resources, fail }) => {
  const config = parseEnvironment(sweeperEnvironment, process.env);
  const logger = createLogger('sweeper', config.LOG_LEVEL);
  const connections = await connect('sweeper', config, [], logger, resources);
  const { kafka, codec, producer, checks, clock } = connections;
  const { db } = connections.database;
  const ledgerKey = ledgerKeyOf(await loadNamingKey(db));
  const sweep = new Sweep({
    retentionRuns: new RetentionRunStore(db),
    shards: new RetentionShardStore(db),
    pages: new RetentionSweepStore(db, ledgerKey),
    sweeping: new RetentionSweepingStore(db),
    subscribers: new SubscriberStore(db),
    erasures: new RetentionErasureStore(db, ledgerKey),
    clock,
    logger,
  });

  const loop = await startConsumerLoop({
    kafka,
    codec,
    producer,
    topic: 'retentionTicks',
    groupId: CONSUMER_GROUPS.sweeper,
    handle: onRetentionTick(sweep, config.SWEEP_BUDGET_MS),
    logger,
    onCrash: fail,
  });
  resources.add('consumer loop', () => loop.stop());

  const health = healthApp({ ...checks, consumption: loop.check }, logger);
  const server = await listen(health, config.HTTP_PORT, config.HTTP_HOST);
  resources.add('http server', () => server.close());
  logger.info({ port: server.port }, 'sweeper ready');
  return logger;
});
