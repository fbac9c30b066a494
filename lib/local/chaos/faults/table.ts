import type { Clock, Random } from '../../../clock.ts'
import type { HttpFault, HttpFaults } from '../../http-faults.ts'
import { type Fault, type Span, untilHit } from '../fault.ts'

/** The relay's way to its fence table. */
export interface Table {
  readonly proxy: HttpFaults
  readonly clock: Clock
  readonly random: Random
}

const span = { lastsMs: 4_000, patienceMs: 20_000 }
const slowMsMin = 200
const slowMsMore = 1_500

/** No request to the table is answered; each connection is cut. */
export const dynamoDbDown = (table: Table): Fault => tableFault('dynamodb-down', table, span, () => 'refuse', 'refused')

export const dynamoDbSlow = (table: Table): Fault => {
  const fate = (): HttpFault => ({ delayMs: slowMsMin + table.random.fraction() * slowMsMore })
  return tableFault('dynamodb-slow', table, span, fate, 'slowed down')
}

/** Each request is served and its answer lost: a conditional write that is sent again finds its own success. */
export const dynamoDbLostReply = (table: Table): Fault =>
  tableFault('dynamodb-lost-reply', table, span, () => 'lose-answer', 'served, their answers lost')

function tableFault(name: string, { proxy, clock }: Table, last: Span, fate: () => HttpFault, said: string): Fault {
  return {
    name,
    strikes: 'table',
    async fire(signal) {
      proxy.inject(fate)
      const hits = () => proxy.seen
      try {
        return (await untilHit(clock, last, hits, signal)) ? `${hits()} requests ${said}` : null
      } finally {
        proxy.inject(() => 'pass')
      }
    },
  }
}
