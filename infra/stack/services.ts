import { fileURLToPath } from 'node:url';

/** The services of a stack, in the order in which they are named everywhere. */
export const SERVICES = ['scheduler', 'dispatcher', 'sweeper'] as const;
export type ServiceName = (typeof SERVICES)[number];

/** The files that Node runs. */
export const SERVICE_ENTRIES: Readonly<Record<ServiceName, string>> = {
  scheduler: inRepository('services/scheduler/src/main.ts'),
  dispatcher: inRepository('services/dispatcher/src/main.ts'),
  sweeper: inRepository('services/sweeper/src/main.ts'),
};

/** Loaded before a service, so that tracing can patch what it loads. */
export const TELEMETRY_PRELOAD = inRepository('packages/shared/src/telemetry/register.ts');

export const REPOSITORY_ROOT = inRepository('.');

function inRepository(path: string): string {
  return fileURLToPath(new URL(`../../${path}`, import.meta.url));
}
