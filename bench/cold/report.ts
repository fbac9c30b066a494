import { writeSync } from 'node:fs'

/** Where a measured process tells what it measured: a pipe of its own, so that logs do not mix in. One line of JSON each. */
const reportFd = 3

/** Nothing is loaded for it: what a process reports with must not be part of what it reports. */
export const report = (figures: object): void => void writeSync(reportFd, `${JSON.stringify(figures)}\n`)

/** Of this process since its start, user and system: what a wall clock shows too, without what other processes do to it. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}
