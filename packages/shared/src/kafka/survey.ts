import type { Kafka } from 'kafkajs';
import { CONSUMER_GROUPS } from '../contracts/topics.ts';
import { topicFaults } from './topics.ts';

type Service = keyof typeof CONSUMER_GROUPS;

/** What a look at Kafka shows, changing nothing. */
export interface KafkaSurvey {
  readonly brokers: number;
  /** How topics differ from the catalogue. */
  readonly topicFaults: readonly string[];
  /** How many processes of each service take messages now. */
  readonly members: Readonly<Record<Service, number>>;
}

/** Looks at Kafka once. Fails where no broker answers. */
export async function surveyKafka(kafka: Kafka): Promise<KafkaSurvey> {
  const admin = kafka.admin({ retry: { retries: 2, initialRetryTime: 100 } });
  try {
    await admin.connect();
    const { brokers } = await admin.describeCluster();
    const faults = await topicFaults(admin);
    const { groups } = await admin.describeGroups(Object.values(CONSUMER_GROUPS));
    const count = (service: Service) =>
      groups.find(({ groupId }) => groupId === CONSUMER_GROUPS[service])?.members.length ?? 0;
    const members = {
      scheduler: count('scheduler'),
      dispatcher: count('dispatcher'),
      sweeper: count('sweeper'),
    };
    return { brokers: brokers.length, topicFaults: faults, members };
  } finally {
    await admin.disconnect();
  }
}
