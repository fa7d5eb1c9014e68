import { ConfigurationError } from '@waybill/shared/config/environment';

/** Where engines come from. @throws ConfigurationError */
export function engineKind({ WAYBILL_ENGINES: kind = '' }: NodeJS.ProcessEnv): 'embedded' | 'docker' {
  if (kind === 'docker') return 'docker';
  if (kind === '' || kind === 'embedded') return 'embedded';
  throw new ConfigurationError([`WAYBILL_ENGINES must be "embedded" or "docker", not "${kind}"`]);
}
