import { type Poller, startPoller } from '../esm-poller/poller.ts'
import type { PollerEvent } from '../esm-poller/poller-event.ts'
import type { InvokeResult } from '../lambda-host/invoke-result.ts'
import { startSchedule } from '../schedule.ts'

/** What rings a relay's function. */
export type Ringing =
  | { readonly trigger: 'event'; readonly batchSize: number; readonly batchingWindowMs: number }
  | { readonly trigger: 'pull'; readonly everyMs: number }

export interface RingerParts {
  readonly brokers: readonly string[]
  readonly topic: string
  /** The event source mapping's own consumer group. */
  readonly group: string
  invoke(event: unknown): Promise<InvokeResult>
  /** Something that holds up or drops deliveries. */
  trouble(message: string): void
}

export interface Ringer {
  /** No further invocation begins. */
  halt(): void
  /** Those that still run are not waited for. */
  stop(): Promise<void>
}

/** @throws RelayError TOPIC_MISSING, BROKER_UNAVAILABLE, AUTHENTICATION_FAILED */
export const startRinger = async (ringing: Ringing, parts: RingerParts): Promise<Ringer> =>
  ringing.trigger === 'pull' ? bySchedule(ringing.everyMs, parts) : byEvents(await startMapping(ringing, parts))

function startMapping(ringing: Extract<Ringing, { trigger: 'event' }>, parts: RingerParts): Promise<Poller> {
  const { brokers, topic, group, invoke, trouble } = parts
  const { batchSize, batchingWindowMs } = ringing
  const onEvent = (event: PollerEvent) => {
    if (event.kind === 'trouble') trouble(event.message)
    if (event.kind === 'oversized') trouble(`offset ${event.offset} of partition ${event.partition} fits no event`)
  }
  return startPoller({ brokers, topic, group, batchSize, batchingWindowMs, function: invoke, onEvent })
}

const byEvents = (poller: Poller): Ringer => ({ halt: () => poller.pause(), stop: () => poller.stop('abandon') })

function bySchedule(everyMs: number, { invoke }: RingerParts): Ringer {
  const schedule = startSchedule({ everyMs, invoke: () => invoke({}) })
  return { halt: () => void schedule.stop(), stop: () => schedule.stop() }
}
