import { readFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

/** What is read of vitest's JSON report. */
interface Report {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  numFailedTestSuites: number;
  testResults: {
    name: string;
    status: string;
    message: string;
    assertionResults: { status: string; fullName: string; failureMessages: string[] }[];
  }[];
}

/** Of each fault so much is told again at the end; the whole stands above, in what vitest printed. */
const TOLD_CHARACTERS = 600;

/** Prints each fault in short, then the closing line; fails if anything failed, or if no test ran at all. */
const [file = ''] = process.argv.slice(2);
const report: Report = JSON.parse(await readFile(file, 'utf8'));
const skipped = report.numPendingTests + report.numTodoTests;
// A file that fails to load holds no test that could fail.
const failed = report.numFailedTests > 0 ? report.numFailedTests : report.numFailedTestSuites;
for (const { name, status, message, assertionResults } of report.testResults) {
  const path = relative('.', name);
  const faults = assertionResults.filter((result) => result.status === 'failed');
  for (const { fullName, failureMessages } of faults)
    tell(`${path}: ${fullName}`, failureMessages.join('\n'));
  if (status === 'failed' && faults.length === 0) tell(path, message);
}
process.stdout.write(`${report.numPassedTests} passed, ${failed} failed, ${skipped} skipped\n`);
if (failed > 0 || report.numPassedTests === 0) process.exitCode = 1;

function tell(what: string, why: string): void {
  process.stdout.write(`FAILED ${what}\n${stripVTControlCharacters(why).slice(0, TOLD_CHARACTERS)}\n\n`);
}
