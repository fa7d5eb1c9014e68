import { randomUUID } from 'node:crypto';
import { ROOT_CONTEXT } from '@opentelemetry/api';
import { type StatusEvent, statusEvent } from '@waybill/shared/contracts/status-event';
import { parseEgressPolicy } from '@waybill/shared/domain/egress-policy';
import { ledgerKeyOf } from '@waybill/shared/domain/retention-ledger';
import type { BatchHandler } from '@waybill/shared/kafka/consumer-loop';
import type { Producer } from '@waybill/shared/kafka/producer';
import { CredentialVault } from '@waybill/shared/sealing/credential-vault';
import { KeyRing } from '@waybill/shared/sealing/key-ring';
import { createSender, type Sender } from '@waybill/shared/sending/send';
import { SubscriberSender } from '@waybill/shared/sending/subscriber-sender';
import { ChainStore } from '@waybill/shared/stores/chains';
import type { DatabaseClock } from '@waybill/shared/stores/database-clock';
import { DeadLetterStore } from '@waybill/shared/stores/dead-letters';
import { DeliveryStore } from '@waybill/shared/stores/deliveries';
import { LaneStore } from '@waybill/shared/stores/lanes';
import { LeaseStore } from '@waybill/shared/stores/leases';
import { ReplayStore } from '@waybill/shared/stores/replays';
import { RetentionLedgerStore } from '@waybill/shared/stores/retention-ledger';
import { RunStore } from '@waybill/shared/stores/runs';
import { StatusEventStore } from '@waybill/shared/stores/status-events';
import { SubscriberStore } from '@waybill/shared/stores/subscribers';
import { TurnStore } from '@waybill/shared/stores/turns';
import { createLogger } from '@waybill/shared/telemetry/logger';
import type { Db } from 'mongodb';
import { Dispatch } from '../../services/dispatcher/src/dispatch.ts';
import { Lanes } from '../../services/dispatcher/src/lanes/lanes.ts';
import { onCommands } from '../../services/dispatcher/src/on-commands.ts';
import { Settler } from '../../services/dispatcher/src/settler.ts';
import { DeletedEvents } from '../../services/scheduler/src/events/deleted-events.ts';
import { ingest } from '../../services/scheduler/src/events/ingest.ts';
import { onStatusEvents } from '../../services/scheduler/src/fan-out/on-status-events.ts';
import { DispatchTick } from '../../services/scheduler/src/ticks/dispatch-tick.ts';
import { mortalDatabase } from './mortal-database.ts';
import { MortalProcess, mortalProducer } from './mortal-process.ts';

/** What processes share. */
export interface Surroundings {
  readonly db: Db;
  readonly clock: DatabaseClock;
  readonly namingKey: Buffer;
  readonly leaseMs: number;
  /** Puts messages into a topic. */
  readonly append: Producer['send'];
}

const VAULT = new CredentialVault(new KeyRing([{ kid: 'model', key: Buffer.alloc(32) }]));
const LOGGER = createLogger('model', 'silent');
const PLAIN = {
  schema: statusEvent,
  locate: (_raw: unknown, path: readonly PropertyKey[]) => path,
  contradictions: () => [],
};

/** The parts of a scheduler that touch deliveries, as its `main.ts` builds them. */
export class Scheduler {
  readonly process = new MortalProcess();
  readonly deliveries: DeliveryStore;
  readonly replays: ReplayStore;
  readonly subscribers: SubscriberStore;
  readonly lanes: LaneStore;
  readonly fanOut: BatchHandler<'statusEvents'>;
  readonly tick: DispatchTick;
  readonly #ingest: Parameters<typeof ingest>[2];

  constructor({ db, clock, namingKey, leaseMs: visibilityMs, append }: Surroundings) {
    const mortal = mortalDatabase(db, this.process);
    const producer = mortalProducer(this.process, append);
    const events = new StatusEventStore(mortal);
    const deliveries = new DeliveryStore(mortal);
    const subscribers = new SubscriberStore(mortal);
    const lanes = new LaneStore(mortal);
    const runs = new RunStore(mortal);
    this.deliveries = deliveries;
    this.replays = new ReplayStore(mortal);
    this.subscribers = subscribers;
    this.lanes = lanes;
    const deadLetters = new DeadLetterStore(mortal);
    const deletedEvents = new DeletedEvents(new RetentionLedgerStore(mortal, ledgerKeyOf(namingKey)));
    this.#ingest = { events, deadLetters, deletedEvents, producer, clock, namingKey };
    this.fanOut = onStatusEvents({
      events,
      subscribers,
      chains: new ChainStore(mortal),
      deletedEvents,
      producer,
      clock,
      namingKey,
      visibilityMs,
    });
    this.tick = new DispatchTick({
      deliveries,
      lanes,
      events,
      deadLetters,
      runs,
      producer,
      clock,
      worker: 'scheduler',
      visibilityMs,
    });
  }

  /** `POST /v1/status-events`, behind HTTP. */
  post(events: readonly StatusEvent[]): ReturnType<typeof ingest> {
    return ingest(
      events.map((raw, index) => ({ raw, path: `$[${index}]`, textFaults: [] })),
      PLAIN,
      this.#ingest,
      ROOT_CONTEXT,
    );
  }
}

/** A dispatcher as its `main.ts` builds it, with connections to subscribers of its own. */
export class DispatcherService {
  readonly process = new MortalProcess();
  readonly instance = randomUUID();
  readonly onCommands: BatchHandler<'deliveryCommands'>;
  readonly #dispatch: Dispatch;
  readonly #sender: Sender;

  constructor({ db, clock, leaseMs, append }: Surroundings) {
    const mortal = mortalDatabase(db, this.process);
    const leases = new LeaseStore(mortal);
    const subscribers = new SubscriberStore(mortal);
    this.#sender = createSender({
      policy: parseEgressPolicy('127.0.0.1'),
      userAgent: 'Waybill/model',
      connectionsPerOrigin: 100,
    });
    const { instance } = this;
    const lanes = new Lanes({ store: new LaneStore(mortal), subscribers, clock, instance, logger: LOGGER });
    this.#dispatch = new Dispatch({
      leases,
      deliveries: new DeliveryStore(mortal),
      turns: new TurnStore(mortal),
      events: new StatusEventStore(mortal),
      subscribers,
      lanes,
      sender: new SubscriberSender(mortalSender(this.#sender, this.process), VAULT),
      settler: new Settler(leases, mortalProducer(this.process, append), LOGGER),
      clock,
      claimer: { worker: `dispatcher/${instance}`, instance, leaseMs },
      logger: LOGGER,
    });
    this.#dispatch.start();
    this.onCommands = onCommands(this.#dispatch);
    // What is left of a dead one runs out without effect; only its timers have to be ended.
    this.process.death.addEventListener('abort', () => void this.stop());
  }

  async stop(): Promise<void> {
    await this.#dispatch.stop(0);
    await this.#sender.close();
  }
}

/** A dead process sends nothing, and the requests it had under way are cut off. */
function mortalSender(sender: Sender, process: MortalProcess): Sender {
  return {
    send: (request, signal) =>
      process.follow(() => {
        const ends = signal ? [signal, process.death] : [process.death];
        return sender.send(request, AbortSignal.any(ends));
      }),
    close: () => sender.close(),
  };
}
