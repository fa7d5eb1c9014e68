import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from '@waybill/infra/engines/run-command';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findPython, pythonLibraries } from '../harness/python.ts';
import { statusEvent } from '../harness/scenario.ts';
import { startTestStack, type TestStack } from '../harness/stack.ts';

/** `WAYBILL_FUZZ_SECONDS` makes a longer run, `WAYBILL_FUZZ_SEED` another one. */
const SECONDS = Number(process.env.WAYBILL_FUZZ_SECONDS ?? 60);
const SEED = process.env.WAYBILL_FUZZ_SEED ?? '1';

/**
 * What is looked for. Not `positive_data_acceptance`: a cursor that no list gave or a slot in the future fit their schema
 * and are refused all the same.
 */
const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
  'negative_data_rejection',
  'unsupported_method',
  'allow_header_conformance',
  'ignored_auth',
  'use_after_free',
  'ensure_resource_availability',
];

const python = await findPython();
if (!python) process.stderr.write('No Python 3 with pip here: the API is not fuzzed.\n');

let stack: TestStack;
let libraries: string;
let scratch: string;

beforeAll(async () => {
  if (!python) return;
  const folder = new URL('./', import.meta.url);
  libraries = await pythonLibraries(python, { name: 'fuzzer', title: 'schemathesis', folder }, 70);
  scratch = await mkdtemp(join(tmpdir(), 'waybill-fuzz-'));
  // Without dispatchers: a made-up subscriber may have anybody's address, and nobody shall be called.
  stack = await startTestStack({ dispatchers: 0 });
  await stack.api.putSubscriber('clinic', { url: 'http://127.0.0.1:9/' });
  await stack.api.postEvents(statusEvent('fuzz', { shipmentId: 'SHP-fuzz' }));
}, 300_000);
afterAll(async () => {
  await stack?.[Symbol.asyncDispose]();
  if (scratch) await rm(scratch, { recursive: true });
});

describe.skipIf(!python)('requests that nobody would write by hand', () => {
  it(
    'get from the API only what its document describes',
    async () => {
      const said = await runCommand(
        python?.command ?? '',
        [
          ...['-m', 'schemathesis.cli', 'run', `${stack.api.base}/openapi.json`],
          ...['--header', `Authorization: Bearer ${stack.api.keys.admin}`],
          ...['--checks', CHECKS.join(','), '--phases', 'coverage,fuzzing,stateful'],
          ...['--max-examples', '30', '--max-time', String(SECONDS), '--seed', SEED],
          // The test call sends something to the subscriber at once.
          ...['--exclude-path-regex', '/test$'],
          // How quickly and how easily it finds examples says nothing of the API.
          ...['--suppress-health-check', 'all'],
          ...['--request-timeout', '20', '--continue-on-failure', '--no-color', '--warnings', 'off'],
        ],
        {
          env: { ...process.env, PYTHONPATH: libraries, PYTHONDONTWRITEBYTECODE: '1' },
          // It keeps what it found where it runs.
          cwd: scratch,
          timeoutMs: (SECONDS + 90) * 1000,
        },
      );
      if (process.env.WAYBILL_TEST_PROGRESS) process.stderr.write(said);
      expect(said).toMatch(/Selected: (\d+)\/\d+\s+Tested: \1\s/);
      expect((await stack.readiness('scheduler')).status).toBe(200);
    },
    (SECONDS + 120) * 1000,
  );
});
