/**
 * Where the console's pages are: the first segment of each address. The scheduler answers these with the console, the
 * console finds its page by them; whatever is below one of them is the page's own.
 */
export const CONSOLE_PATHS = [
  'now',
  'shipments',
  'deliveries',
  'subscribers',
  'dead-letters',
  'retention',
  'audit',
  'key',
] as const;
