import { parseEnvironment } from '@waybill/shared/config/environment';
import { startConsumerLoop } from '@waybill/shared/kafka/consumer-loop';
import { connect } from '@waybill/shared/runtime/connections';
import { healthApp, listen } from '@waybill/shared/runtime/health';
import { runService } from '@waybill/shared/runtime/service';
import { createLogger } from '@waybill/shared/telemetry/logger';
import { sweeperEnvironment } from './config.ts';
import { onRetentionTick } from './on-retention-tick.ts';

runService(async ({ resources, fail }) => {
  const config = parseEnvironment(sweeperEnvironment, process.env);
  const logger = createLogger('sweeper', config.LOG_LEVEL);
  const { kafka, codec, producer, checks } = await connect('sweeper', config, [], logger, resources);

  const loop = await startConsumerLoop({
    kafka,
    codec,
    producer,
    topic: 'retentionTicks',
    groupId: 'waybill-sweeper',
    handle: onRetentionTick(logger),
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
