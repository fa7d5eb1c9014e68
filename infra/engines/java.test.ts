import { expect, test } from 'vitest';
import { parseJavaRelease } from './java.ts';

test.each([
  ['JAVA_VERSION="17.0.15"\nOS_NAME="Linux"', 17],
  ['IMPLEMENTOR="Eclipse Adoptium"\nJAVA_VERSION="25.0.1"', 25],
  ['JAVA_VERSION="21"', 21],
  ['JAVA_VERSION="1.8.0_442"', 8],
  ['IMPLEMENTOR="nobody"', undefined],
  ['', undefined],
])('%j is Java %s', (description, release) => {
  expect(parseJavaRelease(description)).toBe(release);
});
