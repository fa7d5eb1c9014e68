import { ConfigurationError, commonEnvironment, parseEnvironment } from '@waybill/shared/config/environment';
import { bootstrap } from './bootstrap.ts';

const { KAFKA_BROKERS, MONGODB_URI, SCHEMA_REGISTRY_URL } = commonEnvironment;

try {
  const settings = parseEnvironment({ KAFKA_BROKERS, MONGODB_URI, SCHEMA_REGISTRY_URL }, process.env);
  await bootstrap({ ...settings, KAFKA_BROKERS: settings.KAFKA_BROKERS.join(',') }, (line) => {
    process.stdout.write(`${line}\n`);
  });
} catch (error) {
  const configuration = error instanceof ConfigurationError;
  process.stderr.write(`bootstrap: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = configuration ? 78 : 1;
}
