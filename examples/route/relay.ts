import * as v from 'valibot'
import { bytes, defineRelay, json, topic } from '../../lib/index.ts'

const Ticket = v.object({
  id: v.string(),
  product: v.string(),
  priority: v.picklist(['low', 'high']),
  text: v.string(),
})

const teams = { printer: 'hardware', scanner: 'hardware', mail: 'software' } as const
type Product = keyof typeof teams

const isProduct = (name: string): name is Product => Object.hasOwn(teams, name)

/** Sends each support ticket to the team of its product, urgent ones also to the pager; what nobody can take is a dead letter. */
export default defineRelay({
  name: 'ticket-router',
  source: topic('tickets', json(Ticket)),
  outputs: {
    hardware: topic('tickets.hardware', bytes()),
    software: topic('tickets.software', bytes()),
    pager: topic('tickets.pager', json<{ id: string; team: string }>()),
  },
  deadLetters: topic('tickets.dead'),
  transform(record, { emit }) {
    const { id, product, priority } = record.value
    if (!isProduct(product)) throw new Error(`no team has the product '${product}'`)
    const team = teams[product]
    emit[team](record.raw.value)
    if (priority === 'high') emit.pager({ id, team })
  },
})
