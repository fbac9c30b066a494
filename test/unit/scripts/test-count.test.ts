import { expect, test } from 'vitest'
import { countOf, type VitestReport } from '../../../scripts/test-count.ts'

const report = (found: Partial<VitestReport>): VitestReport => ({
  numPassedTests: 3,
  numFailedTests: 0,
  numPendingTests: 0,
  numTodoTests: 0,
  testResults: [{ status: 'passed', assertionResults: [{}] }],
  ...found,
})

test('all passed', () => {
  expect(countOf(report({}), 0, false)).toEqual({ passed: 3, failed: 0 })
})

test('failed tests are counted once', () => {
  expect(countOf(report({ numFailedTests: 2 }), 1, false)).toEqual({ passed: 3, failed: 2 })
})

test('a file that cannot be loaded is a failure', () => {
  const testResults = [{ status: 'failed', assertionResults: [] }]
  expect(countOf(report({ testResults }), 1, false)).toEqual({ passed: 3, failed: 1 })
})

test('a skipped test is a failure, unless the run was filtered', () => {
  expect(countOf(report({ numPendingTests: 1, numTodoTests: 1 }), 0, false)).toEqual({ passed: 3, failed: 2 })
  expect(countOf(report({ numPendingTests: 1 }), 0, true)).toEqual({ passed: 3, failed: 0 })
})

test('an exit code that no failed test explains is a failure', () => {
  expect(countOf(report({}), 1, false)).toEqual({ passed: 3, failed: 1 })
})

test('a run without tests is a failure', () => {
  expect(countOf(report({ numPassedTests: 0, testResults: [] }), 0, true)).toEqual({ passed: 0, failed: 1 })
})
