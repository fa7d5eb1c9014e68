/**
 * Random stories of everything that may happen to deliveries, each played to its end and then checked by the rules of
 * the harness: events in any order, twice, in conflict; messages handed out again, late, mixed up, or lost; ticks that
 * come late and double; processes that die or fail at any of their calls, or are paused; subscribers of every kind;
 * changes of configuration; replays. Two schedulers and two dispatchers.
 *
 * Real: MongoDB, the stores, the handlers, ticks and dispatchers of the services, HTTP and the endpoints. Not real:
 * - Kafka is a list that is handed out batch by batch, as badly as Kafka may. What the client and the consumer loop do
 *   is tested elsewhere.
 * - A process is a few objects. All it does to the database, to Kafka and to subscribers can be cut off at any call.
 * - Time passes by setting deadlines in the database back.
 *
 * Sequences are data and every step can be made in any state, so fast-check's commands, which choose by preconditions,
 * would add nothing to its arrays. A story that breaks a rule is cut down and told with the seed that plays it again:
 * set WAYBILL_MODEL_SEED and WAYBILL_MODEL_PATH. Processes race as they do in life, so that it may take some plays to
 * see it again. WAYBILL_MODEL_SECONDS and WAYBILL_MODEL_STORIES set how long to look, whichever is over first.
 */

import { startEngines } from '@waybill/infra/engines/start';
import { type DatabaseClock, startDatabaseClock } from '@waybill/shared/stores/database-clock';
import { type OwnDatabase, ownDatabase } from '@waybill/shared/testing/database';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Snapshot } from '../harness/snapshot.ts';
import { play, tellStory } from './play.ts';
import type { Story } from './steps.ts';
import { story } from './stories.ts';

const { WAYBILL_MODEL_SECONDS, WAYBILL_MODEL_STORIES, WAYBILL_MODEL_SEED, WAYBILL_MODEL_PATH } = process.env;
const SECONDS = Number(WAYBILL_MODEL_SECONDS ?? 140);
const STORIES = Number(WAYBILL_MODEL_STORIES ?? 1_000);
/** Stories played at once: most of their time they wait for timeouts. */
const AT_ONCE = WAYBILL_MODEL_PATH ? 1 : 6;

interface Stage {
  readonly database: OwnDatabase;
  readonly clock: DatabaseClock;
}

const undo = new AsyncDisposableStack();
const stages: Stage[] = [];

beforeAll(async () => {
  const engines = await startEngines({ env: process.env, progress: () => {} });
  undo.defer(() => engines.stop());
  for (let count = 0; count < AT_ONCE; count++) {
    const database = undo.use(await ownDatabase(engines.mongodb.uri));
    const clock = await startDatabaseClock(database.db);
    undo.defer(() => clock.stop());
    stages.push({ database, clock });
  }
});
afterAll(() => undo.disposeAsync());

describe('any story of deliveries', () => {
  it('ends with every rule kept', { timeout: (SECONDS + 180) * 1_000 }, async () => {
    const seed = Number(WAYBILL_MODEL_SEED ?? Math.floor(Math.random() * 2 ** 31));
    const began = performance.now();
    const seen = new Tally();
    const found = await Promise.all(stages.map((stage, index) => look(stage, seed + index, began, seen)));
    process.stderr.write(`model: WAYBILL_MODEL_SEED=${seed}, ${seen}\n`);
    expect(found.flatMap((fault) => fault ?? []).join('\n\n')).toBe('');
    expect(seen.stories).toBeGreaterThan(0);
    expect(seen.attempts).toBeGreaterThan(0);
  });
});

/** Plays stories until the time is over. @returns the story that breaks a rule, as short as it got. */
async function look(
  { database, clock }: Stage,
  seed: number,
  began: number,
  seen: Tally,
): Promise<string | null> {
  let playing: Promise<unknown> = Promise.resolve();
  const property = fc.asyncProperty(story, async (told: Story) => {
    const played = play(told, database.db, clock);
    playing = played.catch(() => {});
    seen.add(await played);
  });
  const left = () => SECONDS * 1_000 - (performance.now() - began);
  do {
    const details = await fc.check(property, {
      seed,
      interruptAfterTimeLimit: Math.max(1, left()),
      ...(WAYBILL_MODEL_PATH
        ? { path: WAYBILL_MODEL_PATH, endOnFailure: true, numRuns: 1 }
        : { numRuns: Math.ceil(STORIES / AT_ONCE) }),
    });
    // One that the time cut off is still under way.
    await playing;
    if (details.failed) {
      const shortest = (details.counterexample ?? []).map(tellStory);
      const again = `WAYBILL_MODEL_SEED=${details.seed} WAYBILL_MODEL_PATH=${details.counterexamplePath}`;
      // What is wrong comes first: the story may be longer than a log keeps.
      return [again, details.errorInstance, ...shortest].join('\n');
    }
  } while (left() > 0 && seen.stories < STORIES);
  return null;
}

/** What the stories came to, so that a run that saw little shows. */
class Tally {
  stories = 0;
  attempts = 0;
  readonly #counts = new Map<string, number>();

  add({ deliveries, requests, events }: Snapshot): void {
    this.stories += 1;
    this.#count('events', events.length);
    this.#count('requests', requests.length);
    for (const { state, attempts } of deliveries) {
      this.#count(state, 1);
      this.attempts += attempts.length;
      for (const { outcome, reason, late } of attempts) {
        this.#count(String(outcome), 1);
        if (reason === 'worker_lost') this.#count('lost workers', 1);
        if (late) this.#count('late results', 1);
      }
    }
  }

  toString(): string {
    const counts = [...this.#counts].map(([what, count]) => `${what} ${count}`);
    return `stories ${this.stories}, attempts ${this.attempts}, ${counts.join(', ')}`;
  }

  #count(what: string, by: number): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + by);
  }
}
