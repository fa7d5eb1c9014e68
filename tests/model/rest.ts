import { brokenRest } from '../harness/rules/rest.ts';
import { takeSnapshot, type Violation } from '../harness/snapshot.ts';
import { command, fanOut } from './hand-over.ts';
import { letTimePass, TIMES } from './time.ts';
import type { World } from './world.ts';

const AT_REST_WITHIN_MS = 45_000;
const ALL = { count: 1_000, order: 'sent' } as const;

/**
 * Ends every disturbance and gives the system what it always gets: messages, ticks and time. Subscribers say what they
 * still have to say. Then hands out every message that there ever was once more, which must change nothing.
 *
 * @returns what is still owed, or was sent again.
 */
export async function comeToRest(world: World): Promise<Violation[]> {
  for (const { process } of world.parts) process.calm();
  await world.becomeIdle();
  const owed = await settleAll(world);
  if (owed.length > 0) return owed;

  const before = world.endpoint.log().length;
  await repeatEverything(world);
  const again = await settleAll(world);
  const sent = world.endpoint.log().slice(before);
  return [
    ...again,
    ...sent.map(({ key, attempt }) => ({
      rule: 'repeated messages send nothing',
      id: key ?? '',
      detail: `attempt ${attempt} came when all was done`,
    })),
  ];
}

async function settleAll(world: World): Promise<Violation[]> {
  let { unsaid } = world;
  let deadline = performance.now() + AT_REST_WITHIN_MS;
  for (;;) {
    await letTimePass(world.db, TIMES, world.instances);
    while (!world.events.empty) await fanOut(world, 0, ALL, 'commit');
    await world.scheduler(0).tick.run(world.slot('next'));
    while (!world.events.empty) await fanOut(world, 1, ALL, 'commit');
    // Both dispatchers get the same commands.
    await command(world, 0, ALL, 'again');
    await command(world, 1, ALL, 'commit');
    await world.becomeIdle();
    // Each of many refusals takes a round of its own. What must end in time is what follows the last of them.
    if (world.unsaid < unsaid) {
      unsaid = world.unsaid;
      deadline = performance.now() + AT_REST_WITHIN_MS;
    }
    const owed = brokenRest(await takeSnapshot(world.db, []));
    if (owed.length === 0 || performance.now() > deadline) return owed;
  }
}

async function repeatEverything(world: World): Promise<void> {
  const events = world.events.everything('mixed');
  if (events) await world.scheduler(1).fanOut(events);
  const commands = world.commands.everything('mixed');
  if (commands) await Promise.all([0, 1].map((index) => world.dispatcher(index).onCommands(commands)));
  await world.becomeIdle();
}
