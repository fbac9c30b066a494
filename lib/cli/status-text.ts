import type { LaneStatus, RelayStatus } from '../relay/operator/status.ts'
import { fromNow, offsetFigure, tableLines } from './table.ts'
import { bold, type Terminal } from './terminal.ts'
import { columnsOf, wrapped } from './verify-text.ts'

/** How a relay stands, for people: a line for each partition, then what somebody should look at. */
export function statusLines(status: RelayStatus, terminal: Terminal): readonly string[] {
  const columns = columnsOf(terminal)
  const notes = [...status.lanes.flatMap((lane) => notesOf(lane, status.atMs)), ...status.unreadable.map(unreadable)]
  return [
    `${bold(terminal, status.relay)}, prefix ${status.prefix}, source ${status.source}`,
    '',
    ...tableLines(
      header,
      status.lanes.flatMap((lane) => rowsOf(lane, status.atMs)),
    ).map((line) => `  ${line}`),
    ...notes.flatMap((note) => ['', ...wrapped(note, columns)]),
  ]
}

const header = ['lane', 'partition', 'state', 'position', 'lag', 'token', 'last commit', 'owner']

/** The lane's number is the last part of its transactional id. */
const numberOf = ({ lane }: LaneStatus): string => lane.slice(lane.lastIndexOf('.') + 1)

const rowsOf = (lane: LaneStatus, nowMs: number): readonly string[][] =>
  lane.partitions.map(({ partition, position, lag }) => [
    numberOf(lane),
    String(partition),
    lane.state,
    offsetFigure(position),
    offsetFigure(lag),
    lane.token === null ? '-' : String(lane.token),
    lane.committedAtMs === null ? '-' : fromNow(lane.committedAtMs, nowMs),
    lane.owner === null ? '-' : `${lane.owner.container}, lease ${fromNow(lane.owner.leaseUntilMs, nowMs)}`,
  ])

function notesOf(status: LaneStatus, nowMs: number): readonly string[] {
  const { lane, stopped, resetTo, attempts, openTransaction } = status
  const notes: string[] = []
  if (stopped) notes.push(`✗ ${lane} stopped ${fromNow(stopped.atMs, nowMs)}. ${stopped.message}`)
  if (resetTo) notes.push(`· ${lane} is being reset to ${JSON.stringify(resetTo)}; its next owner finishes that`)
  if (attempts > 0) notes.push(`? ${lane}: its owner died at work ${attempts} times since the position last moved`)
  notes.push(...foreignOffsets(status))
  if (openTransaction) notes.push(`· ${lane} ${transactionNote(openTransaction, nowMs)}`)
  return notes
}

/** The position shown is then the one that the fence record remembers. */
function foreignOffsets({ lane, partitions, dirty }: LaneStatus): readonly string[] {
  const foreign = partitions.filter(({ offsetIsOurs }) => !offsetIsOurs).map(({ partition }) => partition)
  if (foreign.length === 0) return []
  const certainty = dirty ? 'windows may have been committed past the position shown' : 'it stood at the position shown'
  return [`? ${lane}: the committed offset of partition ${foreign.join(', ')} is not its own; ${certainty}`]
}

const transactionNote = (
  { state, startedAtMs, partitions }: NonNullable<LaneStatus['openTransaction']>,
  nowMs: number,
) => `has a transaction (${state}) begun ${fromNow(startedAtMs, nowMs)} on ${partitions.join(', ') || 'no partition'}`

const unreadable = ({ lane, message }: RelayStatus['unreadable'][number]): string =>
  `✗ the fence record ${lane} cannot be read: ${message}`
