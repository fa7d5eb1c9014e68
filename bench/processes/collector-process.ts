import { createServer } from 'node:http';
import { answer, portOf } from './child.ts';

/** Stands where a collector would, and throws away what it gets: what a backend does with spans is not measured. */
const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => response.setHeader('content-type', 'application/json').end('{}'));
});
server.listen(0, '127.0.0.1');

answer({
  port: () => portOf(server),
});
