import type { TopicName } from '@waybill/shared/contracts/topics';
import type { BatchHandler, Refusal } from '@waybill/shared/kafka/consumer-loop';
import type { Mailbox } from './mailbox.ts';
import type { MortalProcess } from './mortal-process.ts';
import type { Hand, Step } from './steps.ts';
import { letTimePass } from './time.ts';
import { becomeIdle } from './rest.ts';
import type { World } from './world.ts';

/** Makes a step happen. */
export async function perform(world: World, step: Step): Promise<void> {
  switch (step.do) {
    case 'post':
      return world.post(step.by, step.events);
    case 'produce':
      return world.produce(step.events);
    case 'fan_out':
      return fanOut(world, step.by, step.hand, step.then);
    case 'command':
      return command(world, step.by, step.hand, step.then);
    case 'lose_commands': {
      const batch = world.commands.batch(step.hand.count, step.hand.order);
      if (batch) world.commands.take(batch);
      return;
    }
    case 'tick':
      await world.scheduler(step.by).tick.run(world.slot(step.slot));
      return;
    case 'time_passes':
      return letTimePass(world.db, step.for, world.instances);
    case 'answer':
      return world.answer(step.by, step.answers);
    case 'put':
      return world.put(step.id, step.terms);
    case 'configure':
      return world.configure(step.id, step.to);
    case 'replay': {
      const { subscriber: subscriberId, shipment } = step.of;
      await world.scheduler(0).deliveries.replayAll(
        {
          ...(subscriberId === undefined ? {} : { subscriberId }),
          ...(shipment === undefined ? {} : { shipmentId: `SHP-${shipment}` }),
        },
        'operator:operator',
      );
      return;
    }
    case 'fault':
      return world.process(step.at).arm(step.calls, step.fault);
    case 'pause':
      return world.process(step.at).pause();
    case 'resume':
      return world.process(step.at).resume();
    case 'rest':
      return becomeIdle(world);
  }
}

export async function fanOut(world: World, by: number, hand: Hand, then: 'commit' | 'again'): Promise<void> {
  const { fanOut: handle, process } = world.scheduler(by);
  const refusals = await handOver(world.events, hand, then, handle, process);
  world.noteRefusals(refusals.map(({ offset }) => offset));
}

export async function command(
  world: World,
  by: number,
  hand: Hand,
  then: 'commit' | 'again',
): Promise<void> {
  const { onCommands: handle, process } = world.dispatcher(by);
  await handOver(world.commands, hand, then, handle, process);
}

/** As the consumer loop: what a handler has taken is committed; after an error or a death the batch comes again. */
async function handOver<Name extends TopicName>(
  mailbox: Mailbox<Name>,
  { count, order }: Hand,
  then: 'commit' | 'again',
  handle: BatchHandler<Name>,
  process: MortalProcess,
): Promise<readonly Refusal[]> {
  const batch = mailbox.batch(count, order);
  if (!batch) return [];
  const refusals = await handle(batch);
  if (process.dead) return [];
  if (then === 'commit') mailbox.take(batch);
  return refusals;
}
