import { engineAccess } from '@waybill/shared/config/engine-access';
import { ConfigurationError, engineEnvironment, parseEnvironment } from '@waybill/shared/config/environment';
import { bootstrap } from './bootstrap.ts';

try {
  const settings = parseEnvironment(engineEnvironment, process.env);
  await bootstrap(
    { ...settings, KAFKA_BROKERS: settings.KAFKA_BROKERS.join(','), access: engineAccess(settings) },
    (line) => {
      process.stdout.write(`${line}\n`);
    },
  );
} catch (error) {
  const configuration = error instanceof ConfigurationError;
  process.stderr.write(`bootstrap: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = configuration ? 78 : 1;
}
