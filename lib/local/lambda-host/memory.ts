import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Clock } from '../../clock.ts'

export interface MemoryUse {
  readonly nowBytes: number
  readonly peakBytes: number
}

/** Resident memory of a process; zeros once it is gone. Only Linux tells the peak: elsewhere it is the present use. */
export function memoryUse(pid: number): MemoryUse {
  if (process.platform !== 'linux') {
    const bytes = Number(spawnSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' }).stdout) * 1024
    return { nowBytes: bytes || 0, peakBytes: bytes || 0 }
  }
  const status = statusOf(pid)
  const field = (name: string) => Number(status.match(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm'))?.[1] ?? 0) * 1024
  return { nowBytes: field('VmRSS'), peakBytes: field('VmHWM') }
}

function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8')
  } catch {
    return ''
  }
}

const watchEveryMs = 50

/** Resolves true when the process used more than `limitBytes`, false when the signal ended the watch. */
export async function exceedsMemory(
  pid: number,
  limitBytes: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<boolean> {
  while (!signal.aborted) {
    await clock.sleep(watchEveryMs, signal).catch(() => undefined)
    if (memoryUse(pid).nowBytes > limitBytes) return true
  }
  return false
}
