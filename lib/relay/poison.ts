/**
 * What the lane does after its owner died at work. Deaths blame nobody at first: windows are halved until a single
 * record is left alone, and only a record that dies alone, in its transform, again and again, is taken for poison.
 * Every decision stands on acknowledged writes of the fence record, never on the memory of a process (P8).
 */

export type Stage = 'read' | 'transform' | 'commit'

/** What the dead owner had announced, as step 1 found it. */
export interface Announced {
  /** First offset of the announced window, of the lane's first partition that had any. */
  readonly from: bigint
  readonly recordsMax: number
  readonly stage: Stage
  /** Earlier deaths of this same record, alone and in its transform. */
  readonly deathsAlone: number
}

export interface CrashHistory {
  readonly attempts: number
  readonly announced: Announced | null
}

/** Step 4: the count starts anew when the position has moved since the death; the crash just found still counts. */
export function attemptsAtOpen(counted: number, workingFound: boolean, moved: boolean): number {
  if (!moved) return counted
  return workingFound ? 1 : 0
}

export function moved(history: CrashHistory, position: bigint, remembered: bigint | undefined): boolean {
  return position !== (history.announced?.from ?? remembered)
}

/** Halved per attempt down to one record; doubled again by each window that commits (`commits` in this invocation). */
export function recordsMaxNow(recordsMax: number, attempts: number, commits: number): number {
  const halvings = Math.max(0, attempts - commits)
  return Math.max(1, Math.floor(recordsMax / 2 ** halvings))
}

/** Deaths of the record at `from`, alone, in stage `transform`, the one just found included. */
export function deathsAlone(announced: Announced | null, from: bigint): number {
  if (!announced || announced.from !== from || announced.recordsMax !== 1) return 0
  return announced.deathsAlone + (announced.stage === 'transform' ? 1 : 0)
}

/** The lease grows with the attempts, so that a transform that outlasts one lease is not taken for dead (S5). */
export function leaseMsFor(leaseMs: number, attempts: number, functionTimeoutMs: number): number {
  return Math.min(leaseMs * 2 ** Math.min(attempts, 20), functionTimeoutMs)
}
