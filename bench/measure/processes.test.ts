import { expect, test } from 'vitest';
import { cpuMicrosIn, cpuPerDelivery, meter, peakRssMbIn } from './processes.ts';

test('processor time is user and system time, whatever the program calls itself', () => {
  const rest = 'S 1 42 42 0 -1 4194560 900 0 0 0 250 50 9 9 20 0 11 0 5000 0';
  expect(cpuMicrosIn(`42 (node) ${rest}`)).toBe(3_000_000);
  expect(cpuMicrosIn(`42 (tmux: server (1)) ${rest}`)).toBe(3_000_000);
  expect(() => cpuMicrosIn('42 (node) S')).toThrow('proc(5)');
});

test('the peak is told in MB', () => {
  expect(peakRssMbIn('VmPeak:\t 999 kB\nVmHWM:\t  100000 kB\nVmRSS:\t 5 kB\n')).toBe(102);
  expect(() => peakRssMbIn('VmRSS:\t 5 kB\n')).toThrow('VmHWM');
});

test('each delivery has its share, and the total is rounded once', () => {
  const usage = { cpuMicros: { a: 1_040, b: 1_040 }, peakRssMb: {} };
  expect(cpuPerDelivery(usage, 100)).toEqual({ a: 10, b: 10, total: 21 });
});

test('work that this process does is measured', async () => {
  const used = await meter({ here: [process.pid] });
  for (const until = performance.now() + 200; performance.now() < until; );
  const { cpuMicros, peakRssMb } = await used();
  expect(cpuMicros.here).toBeGreaterThan(0);
  expect(peakRssMb.here).toBeGreaterThan(10);
});
