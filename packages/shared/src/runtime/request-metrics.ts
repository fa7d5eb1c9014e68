import type { RequestHandler } from 'express';
import { httpServerDuration } from '../telemetry/metrics.ts';

/** Times every request by the pattern of its route: a path may hold ids, and a wrong one anything. */
export const timeRequests: RequestHandler = (request, response, next) => {
  const began = performance.now();
  response.once('finish', () => {
    const labels = {
      http_request_method: request.method,
      http_route: request.route ? patternOf(`${request.baseUrl}${request.route.path}`) : 'none',
      http_response_status_code: String(response.statusCode),
    };
    httpServerDuration.observe(labels, (performance.now() - began) / 1000);
  });
  next();
};

/** The same whether a route stands in a router of its own or not. */
function patternOf(path: string): string {
  return path.length > 1 ? path.replace(/\/$/, '') : path;
}
