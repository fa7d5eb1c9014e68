import { engineAccess } from '@waybill/shared/config/engine-access';
import {
  ConfigurationError,
  engineEnvironment,
  parseEnvironment,
  sharedEnvironment,
} from '@waybill/shared/config/environment';
import { reseal } from './reseal.ts';

const { MONGODB_URI, MONGODB_CA_FILE, MONGODB_CERT_FILE } = engineEnvironment;
const { WAYBILL_SECRET_KEYS } = sharedEnvironment;

try {
  const schema = { MONGODB_URI, MONGODB_CA_FILE, MONGODB_CERT_FILE, WAYBILL_SECRET_KEYS };
  const settings = parseEnvironment(schema, process.env);
  const { resealed, current, changed, unopened } = await reseal(
    settings.MONGODB_URI,
    settings.WAYBILL_SECRET_KEYS,
    engineAccess(settings).mongodb,
  );
  const kid = settings.WAYBILL_SECRET_KEYS[0]?.kid;
  process.stdout.write(`${resealed} sealed anew with ${kid}, ${current} were sealed with it already\n`);
  for (const id of changed) process.stderr.write(`reseal: ${id} was changed meanwhile; run this again\n`);
  for (const { subscriberId, why } of unopened) process.stderr.write(`reseal: ${subscriberId}: ${why}\n`);
  if (changed.length + unopened.length > 0) process.exitCode = 1;
} catch (error) {
  process.stderr.write(`reseal: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = error instanceof ConfigurationError ? 78 : 1;
}
