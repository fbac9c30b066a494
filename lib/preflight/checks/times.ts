import { hours, minutes, seconds } from '../../units.ts'
import type { Facts } from '../facts/facts.ts'
import { brokerSettings } from '../facts/read-cluster.ts'
import { type Finding, fail, holds, type Subject, warn } from '../finding.ts'
import { ofEachBroker } from './each-broker.ts'

/** A sweep that fails is followed by another, and that by a third, before anything is forgotten. */
const sweepsMin = 3

/** What brokers forget or give up after some time, against what this deployment does within it. */
export function timeChecks(facts: Facts): readonly Finding[] {
  return [...transactionTimeout(facts), ...memory(facts), ...sourceRetention(facts)]
}

function transactionTimeout({ cluster, transactionTimeoutMs }: Facts): readonly Finding[] {
  if (!cluster.told) return []
  const name = brokerSettings.transactionTimeoutMax
  const wanted = `${transactionTimeoutMs} or more (FENCEPOST_TRANSACTION_TIMEOUT_MS)`
  const subject: Subject = { id: 'broker.transaction-timeout', about: 'broker', what: name, wanted }
  const fix = `raise ${name} on the brokers, or lower FENCEPOST_TRANSACTION_TIMEOUT_MS and the function timeout below it`
  return ofEachBroker(cluster.value, subject, name, (value, about) =>
    holds(Number(value) >= transactionTimeoutMs, fail, { ...subject, about }, value, fix),
  )
}

/** Committed offsets and transactional ids of idle lanes, which the sweep keeps alive. */
function memory({ cluster, sweepEveryMs }: Facts): readonly Finding[] {
  if (!cluster.told) return []
  const kept = [
    { id: 'broker.offsets-retention', what: brokerSettings.offsetsRetention, unitMs: minutes(1) },
    { id: 'broker.id-expiration', what: brokerSettings.idExpiration, unitMs: 1 },
  ]
  return kept.flatMap(({ id, what, unitMs }) => {
    const least = Math.ceil((sweepsMin * sweepEveryMs) / unitMs)
    const wanted = `${least} or more: ${sweepsMin} sweeps (one each ${duration(sweepEveryMs)})`
    const subject: Subject = { id, about: 'broker', what, wanted }
    const fix = 'sweep more often, or raise it on the brokers'
    return ofEachBroker(cluster.value, subject, what, (value, about) =>
      holds(Number(value) >= least, fail, { ...subject, about }, value, fix),
    )
  })
}

/** The sweep reads what bells have missed: before it is deleted. */
function sourceRetention({ topics, sweepEveryMs }: Facts): readonly Finding[] {
  if (!topics.told) return []
  return topics.value
    .filter(({ roles }) => roles.has('source'))
    .flatMap(({ name, state }) => {
      const settings = state.told ? state.value?.settings : undefined
      if (!settings?.told) return []
      const [timeMs, bytes] = ['retention.ms', 'retention.bytes'].map((key) => Number(settings.value.get(key) ?? -1))
      return [byTime(name, timeMs ?? -1, sweepEveryMs), bySize(name, bytes ?? -1)]
    })
}

function byTime(topic: string, retentionMs: number, sweepEveryMs: number): Finding {
  const leastMs = sweepsMin * sweepEveryMs
  const wanted = `${leastMs} or more: ${sweepsMin} sweeps (one each ${duration(sweepEveryMs)})`
  const subject: Subject = { id: 'source.retention', about: topic, what: 'retention.ms', wanted }
  const fix = `sweep more often, or kafka-configs.sh --alter --topic ${topic} --add-config retention.ms=${Math.max(leastMs, hours(24))}`
  const isEndless = retentionMs < 0
  const otherwise = retentionMs < sweepEveryMs ? fail : warn
  return holds(
    isEndless || retentionMs >= leastMs,
    otherwise,
    subject,
    isEndless ? 'endless' : String(retentionMs),
    fix,
  )
}

function bySize(topic: string, bytes: number): Finding {
  const subject: Subject = { id: 'source.retention-bytes', about: topic, what: 'retention.bytes', wanted: '-1' }
  const fix = `a burst may delete what was not relayed yet: kafka-configs.sh --alter --topic ${topic} --add-config retention.bytes=-1`
  return holds(bytes < 0, warn, subject, String(bytes), fix)
}

function duration(ms: number): string {
  if (ms % hours(1) === 0) return `${ms / hours(1)} h`
  return ms % minutes(1) === 0 ? `${ms / minutes(1)} min` : `${ms / seconds(1)} s`
}
