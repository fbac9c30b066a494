import { Brokers } from './brokers.ts'
import type { Fault } from './fault.ts'
import { delay } from './faults/delay.ts'
import { halfOpen } from './faults/half-open.ts'
import { killBroker } from './faults/kill-broker.ts'
import { lateCopies } from './faults/late-copies.ts'
import { lostReply } from './faults/lost-reply.ts'
import { pauseBroker } from './faults/pause-broker.ts'
import { randomAborts } from './faults/random-aborts.ts'
import { dynamoDbDown, dynamoDbLostReply, dynamoDbSlow } from './faults/table.ts'
import { relay, type Surroundings } from './surroundings.ts'

/** What can be done to brokers, network and table, whatever relays there. */
export function surroundingFaults(around: Surroundings): readonly Fault[] {
  const { nodes, proxies, table, clock, random, connect } = around
  const topics = [relay.sourceTopic, ...relay.outputTopics]
  const brokers = new Brokers({ nodes, topics, random, cluster: connect('chaos-brokers') })
  const network = { proxies, clock, random }
  const fences = { proxy: table, clock, random }
  return [
    killBroker(brokers),
    pauseBroker(brokers),
    halfOpen(network),
    delay(network),
    lateCopies(network),
    lostReply(network),
    randomAborts(network),
    dynamoDbDown(fences),
    dynamoDbSlow(fences),
    dynamoDbLostReply(fences),
  ]
}
