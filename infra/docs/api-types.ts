import openapiTS, { astToString } from 'openapi-typescript';
import { openApiDocument } from '../../services/scheduler/src/http/openapi.ts';
import { ROUTES } from '../../services/scheduler/src/http/routes.ts';

const NOTICE =
  '// Made from the routes of the scheduler by `pnpm reference`; `pnpm check` sees whether it is fresh.';

/** Paths, parameters, bodies and answers of the HTTP API as TypeScript: what `@waybill/client` is typed by. */
export async function apiTypes(): Promise<string> {
  // As it goes over the wire. A field with a default may be left out of a request, and is in every answer anyway.
  const document = JSON.stringify(openApiDocument(ROUTES));
  const nodes = await openapiTS(document, { defaultNonNullable: false });
  // Of what OpenAPI has and this document does not, nothing but empty names would come.
  const told = astToString(nodes.filter((node) => !('type' in node)));
  return `${NOTICE}\n${told}`;
}
