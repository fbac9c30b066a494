import { memoryUsage, resourceUsage } from 'node:process'

/** What a process has used for a piece of work. */
export interface Resources {
  /** Of all its threads, in user and system mode. */
  readonly cpuSeconds: number
  /** Its peak since it started. */
  readonly rssMiB: number
}

/** CPU seconds of this process so far. */
export function resourcesNow(): number {
  const { userCPUTime, systemCPUTime } = resourceUsage()
  return (userCPUTime + systemCPUTime) / 1e6
}

export const resourcesSince = (cpuSeconds: number): Resources => ({
  cpuSeconds: resourcesNow() - cpuSeconds,
  rssMiB: Math.max(resourceUsage().maxRSS / 1024, memoryUsage.rss() / 1_048_576),
})
