import { once } from 'node:events';
import { commonEnvironment, parseEnvironment } from '@waybill/shared/config/environment';
import { healthRoutes, listen } from '@waybill/shared/runtime/health';
import { SampleSubscriber } from '../sample-subscriber.ts';
import { SAMPLES } from '../subscribers.ts';
import { countPath, portOf } from './places.ts';

const { HTTP_HOST, HTTP_PORT } = commonEnvironment;

/** Serves every sample subscriber until `signal`, and on HTTP_PORT what each of them has received. */
export async function serveSubscribers(env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<boolean> {
  const config = parseEnvironment({ HTTP_HOST, HTTP_PORT }, env);
  const subscribers = await Promise.all(
    SAMPLES.map((sample) => new SampleSubscriber(sample).listen(portOf(sample.id), config.HTTP_HOST)),
  );
  const app = healthRoutes({});
  for (const { sample, received } of subscribers) {
    app.get(countPath(sample.id), (_request, response) => {
      response.json(received);
    });
  }
  const server = await listen(app, config.HTTP_PORT, config.HTTP_HOST);
  if (!signal.aborted) await once(signal, 'abort');
  await Promise.all([server.close(), ...subscribers.map((subscriber) => subscriber.close())]);
  return true;
}
