export interface Count {
  readonly passed: number
  readonly failed: number
}

/** What is read of vitest's JSON report. */
export interface VitestReport {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numPendingTests: number
  readonly numTodoTests: number
  readonly testResults: readonly { readonly status: string; readonly assertionResults: readonly unknown[] }[]
}

export const isVitestReport = (value: unknown): value is VitestReport =>
  typeof value === 'object' && value !== null && 'testResults' in value && 'numPassedTests' in value

/**
 * A file that could not be loaded is one failure, and so is a test that was skipped (unless the run was filtered on
 * purpose), a run without tests, and an exit code that no failed test explains: a left-over process, a rejection that
 * nobody awaited.
 */
export function countOf(report: VitestReport, exitCode: number, filtered: boolean): Count {
  const brokenFiles = report.testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0,
  ).length
  const skipped = filtered ? 0 : report.numPendingTests + report.numTodoTests
  const failed = report.numFailedTests + brokenFiles + skipped
  const empty = report.numPassedTests + failed === 0
  return { passed: report.numPassedTests, failed: failed === 0 && (exitCode !== 0 || empty) ? 1 : failed }
}
