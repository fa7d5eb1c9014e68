import { command, fanOut } from './hand-over.ts';
import type { Step } from './steps.ts';
import { letTimePass } from './time.ts';
import type { World } from './world.ts';

/** Makes a step happen. */
export async function perform(world: World, step: Step): Promise<void> {
  switch (step.do) {
    case 'post':
      return world.producers.post(world.scheduler(step.by), step.events);
    case 'produce':
      return world.producers.produce(step.events);
    case 'fan_out':
      return fanOut(world, step.by, step.hand, step.after);
    case 'command':
      return command(world, step.by, step.hand, step.after);
    case 'lose_commands': {
      const batch = world.commands.batch(step.hand.count, step.hand.order);
      if (batch) world.commands.take(batch);
      return;
    }
    case 'tick': {
      const { process, tick } = world.scheduler(step.by);
      await process.live(() => tick.run(world.slot(step.slot)));
      return;
    }
    case 'time_passes':
      return letTimePass(world.db, step.for, world.instances);
    case 'answer':
      return world.answer(step.by, step.answers);
    case 'put':
      return world.configuration.put(step.id, step.terms);
    case 'configure':
      return world.configuration.change(step.id, step.to);
    case 'replay': {
      const { process, replays } = world.scheduler(0);
      const { subscriber: subscriberId, shipment } = step.of;
      const filter = {
        ...(subscriberId === undefined ? {} : { subscriberId }),
        ...(shipment === undefined ? {} : { shipmentId: `SHP-${shipment}` }),
      };
      await process.live(() => replays.replayAll(filter, 'operator:operator'));
      return;
    }
    case 'fault':
      return world.process(step.at).arm(step.calls, step.fault);
    case 'kill':
      return world.process(step.at).die();
    case 'pause':
      return world.process(step.at).pause();
    case 'resume':
      return world.process(step.at).resume();
    case 'rest':
      return world.becomeIdle();
  }
}
