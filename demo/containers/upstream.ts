import { once } from 'node:events';
import { firstKeys } from '@waybill/infra/stack/keys';
import {
  ConfigurationError,
  commonEnvironment,
  parseEnvironment,
  sharedEnvironment,
} from '@waybill/shared/config/environment';
import { healthRoutes, listen } from '@waybill/shared/runtime/health';
import { request } from 'undici';
import { z } from 'zod';
import { sampleEvents } from '../events.ts';
import type { Listener } from '../play.ts';
import type { Received } from '../sample-subscriber.ts';
import { SAMPLES } from '../subscribers.ts';
import { freeNumber, introduction, removeSubscribers, tell } from '../tell.ts';
import { WaybillApi } from '../waybill-api.ts';
import { countPath, portOf } from './places.ts';

const ANSWER_WITHIN_MS = 5_000;

const environment = {
  HTTP_HOST: commonEnvironment.HTTP_HOST,
  HTTP_PORT: commonEnvironment.HTTP_PORT,
  WAYBILL_API_KEYS: sharedEnvironment.WAYBILL_API_KEYS,
  WAYBILL_URL: z.url({ protocol: /^https?$/ }).describe('Where the API is'),
  DEMO_SUBSCRIBERS_URL: z.url({ protocol: /^https?$/ }).describe('Where the sample subscribers count'),
};

/**
 * Makes the sample subscribers known, posts the sample events and waits until every delivery is terminal; is ready only
 * then. Stays until `signal` and removes the subscribers again.
 *
 * @returns false when a delivery was left open, or the record and the subscribers' own counts do not agree.
 */
export async function playUpstream(env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<boolean> {
  const config = parseEnvironment(environment, env);
  const { ingest, operator, admin } = firstKeys(env.WAYBILL_API_KEYS ?? '');
  if (admin === null) {
    throw new ConfigurationError(['WAYBILL_API_KEYS needs a key of role admin: the demo makes subscribers']);
  }
  const api = new WaybillApi(config.WAYBILL_URL, {
    ingest: ingest ?? admin,
    operator: operator ?? admin,
    admin,
  });
  let progress = 'starting';
  let played = false;
  const server = await listen(
    healthRoutes({
      demo: async () => {
        if (!played) throw new Error(progress);
      },
    }),
    config.HTTP_PORT,
    config.HTTP_HOST,
  );
  try {
    process.stdout.write(introduction());
    const scene = {
      api,
      subscribers: SAMPLES.map((sample) => remote(sample, config.DEMO_SUBSCRIBERS_URL)),
      events: sampleEvents(await freeNumber(api)),
      show: (line: string) => {
        progress = line;
      },
      signal,
    };
    if (!(await tell(scene, (text) => process.stdout.write(text)))) return false;
    played = true;
    if (!signal.aborted) await once(signal, 'abort');
    return true;
  } finally {
    if (signal.aborted) await removeSubscribers(api, (line) => process.stderr.write(`${line}\n`));
    await server.close();
  }
}

/** A sample subscriber that runs in another container. */
function remote(sample: Listener['sample'], base: string): Listener {
  const url = new URL(base);
  return {
    sample,
    url: `${sample.scheme}://${url.hostname}:${portOf(sample.id)}/hook`,
    received: async () => {
      const { statusCode, body } = await request(new URL(countPath(sample.id), url), {
        headersTimeout: ANSWER_WITHIN_MS,
        bodyTimeout: ANSWER_WITHIN_MS,
      });
      if (statusCode !== 200) throw new Error(`${url.host} does not say what ${sample.id} received`);
      return (await body.json()) as Received[];
    },
  };
}
