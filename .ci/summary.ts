import { readFile } from 'node:fs/promises';

/** What is read of vitest's JSON report. */
interface Report {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  numFailedTestSuites: number;
}

/** Prints the closing line; fails if anything failed, or if no test ran at all. */
const [file = ''] = process.argv.slice(2);
const report: Report = JSON.parse(await readFile(file, 'utf8'));
const skipped = report.numPendingTests + report.numTodoTests;
// A file that fails to load holds no test that could fail.
const failed = report.numFailedTests > 0 ? report.numFailedTests : report.numFailedTestSuites;
process.stdout.write(`${report.numPassedTests} passed, ${failed} failed, ${skipped} skipped\n`);
if (failed > 0 || report.numPassedTests === 0) process.exitCode = 1;
