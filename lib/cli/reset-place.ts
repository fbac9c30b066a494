import { InvalidArgumentError } from 'commander'
import { RelayError } from '../errors.ts'
import type { LaneId } from '../relay/lane-id.ts'
import type { ResetPlace } from '../relay/operator/plan-reset.ts'

/** `--to` as it was typed. A bare offset is of the only partition that is meant. */
export type TypedPlace = ResetPlace | { readonly to: 'offset'; readonly offset: bigint }

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)$/

export function parsePlace(text: string): TypedPlace {
  if (text === 'earliest' || text === 'latest') return { to: text }
  if (/^\d{1,19}$/.test(text)) return { to: 'offset', offset: BigInt(text) }
  if (/^\d+:\d{1,19}(,\d+:\d{1,19})*$/.test(text)) return { to: 'offsets', offsets: offsetsOf(text) }
  const timestampMs = instant.test(text) ? Date.parse(text) : Number.NaN
  if (timestampMs >= 0) return { to: 'time', timestampMs }
  throw new InvalidArgumentError(
    `"${text}" is none of earliest, latest, 1200 (an offset), 0:1200,1:88 (by partition), 2026-08-01T06:00Z (a time with its zone).`,
  )
}

const offsetsOf = (text: string): ReadonlyMap<number, bigint> =>
  new Map(
    text.split(',').map((pair): [number, bigint] => {
      const [partition = '', offset = ''] = pair.split(':')
      return [Number(partition), BigInt(offset)]
    }),
  )

/** @throws RelayError RESET_REFUSED when it cannot be told which partition an offset is meant for, or one is not of these lanes */
export function placeFor(lanes: readonly LaneId[], place: TypedPlace): ResetPlace {
  const partitions = lanes.flatMap(({ partitions }) => partitions)
  if (place.to === 'offset') {
    const [partition, ...others] = partitions
    if (partition !== undefined && others.length === 0)
      return { to: 'offsets', offsets: new Map([[partition, place.offset]]) }
    const message = `offset ${place.offset} is given for ${partitions.length} partitions: choose one lane with --lanes, or write partition:offset for each`
    throw new RelayError('RESET_REFUSED', message)
  }
  if (place.to !== 'offsets') return place
  const foreign = [...place.offsets.keys()].filter((partition) => !partitions.includes(partition))
  if (foreign.length === 0) return place
  const message = `partition ${foreign.join(', ')} is not of the lanes that are meant (partitions ${partitions.join(', ')})`
  throw new RelayError('RESET_REFUSED', message)
}
