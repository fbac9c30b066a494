import { InvalidArgumentError, Option } from 'commander'
import type { Deadline } from '../clock.ts'
import { RelayError } from '../errors.ts'
import type { LaneId } from '../relay/lane-id.ts'
import { lanesAt, type RelayTopics, relayTopics } from '../relay/relay-topics.ts'
import type { RelayDeployment } from '../relay/runtime.ts'

export interface LaneSelection {
  /** Their numbers; left out: all. */
  readonly lanes?: readonly number[]
}

export const lanesOption = (): Option =>
  new Option('--lanes <n,...>', 'lanes by number, as fencepost status shows them (default: all)').argParser(parseLanes)

function parseLanes(text: string): readonly number[] {
  const lanes = text.split(',').map((part) => (/^\d{1,9}$/.test(part.trim()) ? Number(part) : -1))
  if (lanes.every((lane) => lane >= 0)) return lanes
  throw new InvalidArgumentError(`"${text}" is not a list of lane numbers such as 0 or 3,4.`)
}

/** The lanes that are meant, and the topics as they are now. @throws RelayError CONFIG_INVALID when one does not exist */
export async function selectLanes(
  deployment: RelayDeployment,
  { lanes: wanted }: LaneSelection,
  deadline: Deadline,
): Promise<{ readonly topics: RelayTopics; readonly lanes: readonly LaneId[] }> {
  const topics = await relayTopics(deployment, deadline, 'fresh')
  const all = lanesAt(deployment, topics)
  const missing = (wanted ?? []).filter((number) => !all.some(({ lane }) => lane === number))
  if (missing.length > 0) {
    const message = `lane ${missing.join(', ')} does not exist: the relay has ${all.length}, from 0 to ${all.length - 1}`
    throw new RelayError('CONFIG_INVALID', message)
  }
  return { topics, lanes: wanted ? all.filter(({ lane }) => wanted.includes(lane)) : all }
}
