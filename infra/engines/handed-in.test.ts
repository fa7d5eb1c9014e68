import { expect, test } from 'vitest';
import { handedInEngines, wantedBeside } from './handed-in.ts';

test('each engine that is handed in is not wanted', () => {
  const handedIn = handedInEngines({ KAFKA_BROKERS: 'broker:9092', MONGODB_URI: '' });
  expect(handedIn).toEqual({ kafka: 'broker:9092', mongodb: undefined, registry: undefined });
  expect(wantedBeside(handedIn)).toEqual({ kafka: false, mongodb: true, registry: true });
});

test('Kafka and MongoDB without a registry are refused: nothing would be started for it', () => {
  const env = { KAFKA_BROKERS: 'broker:9092', MONGODB_URI: 'mongodb://database/?replicaSet=rs' };
  expect(() => handedInEngines(env)).toThrow(/set SCHEMA_REGISTRY_URL too/);
  expect(handedInEngines({ ...env, SCHEMA_REGISTRY_URL: 'http://registry' }).registry).toBe(
    'http://registry',
  );
});
