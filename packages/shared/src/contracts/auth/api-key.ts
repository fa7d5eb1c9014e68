import { z } from 'zod';
import { headerName, headerValue, isReservedHeader, RESERVED_HEADER_FAULT } from '../http-header.ts';

/** A header of the subscriber's choice. */
export const apiKeyAuth = z.strictObject({
  type: z.literal('api-key'),
  header: headerName.refine((name) => !isReservedHeader(name), RESERVED_HEADER_FAULT),
  value: headerValue(8192),
});
export type ApiKeyAuth = z.output<typeof apiKeyAuth>;
