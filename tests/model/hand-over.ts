import type { TopicName } from '@waybill/shared/contracts/topics';
import type { BatchHandler, Refusal } from '@waybill/shared/kafka/consumer-loop';
import type { Mailbox } from './mailbox.ts';
import type { MortalProcess } from './mortal-process.ts';
import type { Hand } from './steps.ts';
import type { World } from './world.ts';

/** Messages of a partition go to one consumer at a time. */
export async function fanOut(world: World, by: number, hand: Hand, after: 'commit' | 'again'): Promise<void> {
  const { fanOut: handle, process } = world.scheduler(by);
  await world.partition.own(process, async () => {
    const refusals = await handOver(world.events, hand, after, handle, process);
    world.producers.noteRefusals(refusals.map(({ offset }) => offset));
  });
}

export async function command(
  world: World,
  by: number,
  hand: Hand,
  after: 'commit' | 'again',
): Promise<void> {
  const { onCommands: handle, process } = world.dispatcher(by);
  await handOver(world.commands, hand, after, handle, process);
}

/** As the consumer loop: what a handler has taken is committed; after an error or a death the batch comes again. */
async function handOver<Name extends TopicName>(
  mailbox: Mailbox<Name>,
  { count, order }: Hand,
  after: 'commit' | 'again',
  handle: BatchHandler<Name>,
  process: MortalProcess,
): Promise<readonly Refusal[]> {
  const batch = process.paused ? null : mailbox.batch(count, order);
  if (!batch) return [];
  const refusals = await process.live(() => handle(batch));
  if (refusals && after === 'commit') mailbox.take(batch);
  return refusals ?? [];
}
