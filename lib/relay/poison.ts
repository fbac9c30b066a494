/**
 * What the lane does after its owner died at work. Deaths blame nobody at first: windows are halved until a single
 * record is left alone, and only a record that dies alone, in its transform, again and again, is taken for poison.
 * The counting itself stands in the fence record (fence-rules.ts): acknowledged writes, never a process's memory (P8).
 */

/** Step 4: the count starts anew when the position has moved since the death; the crash just found still counts. */
export function attemptsAtOpen(counted: number, workingFound: boolean, moved: boolean): number {
  if (!moved) return counted
  return workingFound ? 1 : 0
}

/** Halved per attempt down to one record; doubled again by each window that has committed since the lane was opened. */
export function recordsMaxNow(recordsMax: number, attempts: number, commits: number): number {
  const halvings = Math.max(0, attempts - commits)
  return Math.max(1, Math.floor(recordsMax / 2 ** halvings))
}
