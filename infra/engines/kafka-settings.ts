/** Internal topics get few partitions: each is a directory that has to be made before the first group can start. */
const INTERNAL_PARTITIONS = 4;

export const KAFKA_NODE_ID = 1;

export interface BrokerAddresses {
  /** Where clients connect, on 127.0.0.1. */
  port: number;
  controllerPort: number;
  /** What the broker listens on; the controller is for the broker itself, always on 127.0.0.1. */
  listenOn: string;
}

/** Settings of a broker that is its own controller, by their names in `server.properties`. */
export function brokerSettings({
  port,
  controllerPort,
  listenOn,
}: BrokerAddresses): Record<string, string | number> {
  return {
    'process.roles': 'broker,controller',
    'node.id': KAFKA_NODE_ID,
    'controller.quorum.voters': `${KAFKA_NODE_ID}@127.0.0.1:${controllerPort}`,
    listeners: `PLAINTEXT://${listenOn}:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${port}`,
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': 'PLAINTEXT',
    'offsets.topic.replication.factor': 1,
    'offsets.topic.num.partitions': INTERNAL_PARTITIONS,
    'transaction.state.log.replication.factor': 1,
    'transaction.state.log.min.isr': 1,
    'transaction.state.log.num.partitions': INTERNAL_PARTITIONS,
    'share.coordinator.state.topic.replication.factor': 1,
    'share.coordinator.state.topic.min.isr': 1,
    // A consumer that joins alone is assigned at once instead of waiting 3 s for others.
    'group.initial.rebalance.delay.ms': 0,
    // The default takes a quarter of the heap before the first message.
    'log.cleaner.dedupe.buffer.size': 16 * 1024 * 1024,
  };
}

/** The same as environment variables of the `apache/kafka` image. */
export function asImageEnvironment(settings: Record<string, string | number>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [
      `KAFKA_${name.toUpperCase().replaceAll('.', '_')}`,
      String(value),
    ]),
  );
}
