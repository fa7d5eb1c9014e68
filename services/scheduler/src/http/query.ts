import { type ParsedUrlQuery, parse } from 'node:querystring';
import { ProblemError } from '@waybill/shared/domain/errors';

/**
 * The query string by name; a name that is there twice has a list, which no schema takes.
 *
 * @throws ProblemError if it is not UTF-8, percent-encoded: it would be read as something else in silence.
 */
export function parseQuery(text: string | undefined): ParsedUrlQuery {
  try {
    decodeURIComponent(text ?? '');
  } catch {
    throw new ProblemError('invalid_query', 'the query is not UTF-8, percent-encoded');
  }
  return parse(text ?? '', '&', '=', { maxKeys: 0 });
}
