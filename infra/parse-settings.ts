import * as v from 'valibot'
import { type Problem, refuseIfAny, shown } from '../lib/problems.ts'
import { type DeploymentSettings, deploymentSettings } from './settings.ts'

/** Settings of a mapping that make it pass over records, by the names people know, and what Fencepost has instead. */
const dropsBells: Readonly<Record<string, string>> = {
  onFailure: 'deadLetters of the relay itself: any on-failure destination limits retries to 10, and bells are dropped',
  onFailureDestination:
    'deadLetters of the relay itself: any on-failure destination limits retries to 10, and bells are dropped',
  destination: 'deadLetters of the relay itself',
  maximumRetryAttempts: 'nothing: retries are endless, a finite number would drop bells',
  maximumRecordAge: 'nothing: records never get too old, an age limit would drop bells',
  maximumRecordAgeInSeconds: 'nothing: records never get too old, an age limit would drop bells',
  bisectBatchOnFunctionError: 'nothing: the relay finds the record that fails by itself',
  consumptionMode: 'nothing: Queue mode has no order and is never used',
  consumerGroupId: 'nothing: the group of the mapping is derived from the prefix, apart from the commit group',
}

/** Where people write a secret in place of its name. */
const mayBeSecret = /^(auth|privateCa)\b|\.environment\./

/** @throws RelayError CONFIG_INVALID naming every problem of `custom.fencepost` at once */
export function parseSettings(given: unknown): DeploymentSettings {
  const result = v.safeParse(deploymentSettings, given)
  if (!result.success) refuseIfAny('custom.fencepost', result.issues.map(problemOf))
  // Without success the line above has thrown.
  return result.output as DeploymentSettings
}

function problemOf(issue: v.BaseIssue<unknown>): Problem {
  const path = v.getDotPath(issue) ?? 'custom.fencepost'
  const name = path.split('.').at(-1) ?? ''
  if (issue.type === 'strict_object' && issue.expected === 'never') {
    const instead = dropsBells[name] ?? 'a setting from docs/operations/deploy.md'
    return { path, found: 'not a setting', wanted: instead, fix: 'remove it, or correct its spelling' }
  }
  const missing = issue.input === undefined
  const found = mayBeSecret.test(path) && !missing ? 'something else (not shown)' : shown(issue.input)
  const wanted = missing && issue.type === 'strict_object' ? 'a value' : issue.message
  return { path, found, wanted, fix: missing ? 'set it' : 'correct it' }
}
