import { expect, test } from 'vitest';
import { MissingPrerequisitesError, missingPrerequisites } from './prerequisites.ts';
import type { Survey } from './survey.ts';

const EMPTY_MACHINE: Survey = {
  wanted: { kafka: true, mongodb: true, registry: true },
  kafkaIsCached: false,
  registryIsCached: false,
  java: undefined,
  maven: undefined,
  mongod: undefined,
  python: undefined,
  javaWheelFits: true,
  mongodWheelFits: true,
};
const PYTHON = { command: '/usr/bin/python3', env: {} };

test('an empty machine is told everything in one message, each with what to install', () => {
  const { message } = new MissingPrerequisitesError(missingPrerequisites(EMPTY_MACHINE));
  expect(message).toMatch(/Java 21 or newer for Kafka and the schema registry.*apt-get install openjdk-21/);
  expect(message).toMatch(
    /Maven, the command mvn, to fetch Kafka and the schema registry.*apt-get install maven/,
  );
  expect(message).toMatch(/mongod, MongoDB 6\.0 or newer, on PATH or named by MONGOD_BIN.*python3-pip/);
  expect(message).toMatch(/WAYBILL_ENGINES=docker/);
});

test('Python with pip stands in for Java and mongod, not for Maven', () => {
  const missing = missingPrerequisites({ ...EMPTY_MACHINE, python: PYTHON });
  expect(missing).toEqual([expect.stringContaining('Maven')]);
});

test('nothing is missing where everything is cached and Java is new enough', () => {
  const missing = missingPrerequisites({
    ...EMPTY_MACHINE,
    kafkaIsCached: true,
    registryIsCached: true,
    java: { home: '/jdk', release: 21 },
    mongod: '/usr/bin/mongod',
  });
  expect(missing).toEqual([]);
});

test('Java 17 does for Kafka alone, not for the registry', () => {
  const java17 = {
    ...EMPTY_MACHINE,
    java: { home: '/jdk', release: 17 },
    maven: { command: '/mvn', java: undefined },
    mongod: '/mongod',
  };
  expect(missingPrerequisites({ ...java17, wanted: { ...java17.wanted, registry: false } })).toEqual([]);
  expect(missingPrerequisites(java17)).toEqual([expect.stringContaining('the newest found is Java 17')]);
});

test('an engine that is handed in needs nothing', () => {
  const wanted = { kafka: false, mongodb: false, registry: false };
  expect(missingPrerequisites({ ...EMPTY_MACHINE, wanted })).toEqual([]);
});
