import { topics } from '../sim-relay.ts'
import type { Sabotage } from '../world.ts'
import { intercepted, isCall } from './intercept.ts'

/** Knows its source by name only: whatever is called so now is read on from the old position (P10). */
export const readsByName: Sabotage = {
  cluster(cluster, { model, sourceId }) {
    const named = intercepted(cluster, async (call, send) => {
      if (!isCall(call, 'Fetch')) return send(call)
      const topicId = model.topics.find(topics.source)?.id ?? sourceId
      const asked = call.body.topics.map((topic) => ({ ...topic, topicId }))
      const answer = await send<'Fetch'>({ ...call, body: { ...call.body, topics: asked } })
      const responses = answer.body.responses.map((response) => ({ ...response, topicId: sourceId }))
      return { ...answer, body: { ...answer.body, responses } }
    })
    return {
      ...named,
      async topics(...args) {
        const found = await cluster.topics(...args)
        return new Map(
          [...found].map(([name, topic]) => [name, name === topics.source ? { ...topic, topicId: sourceId } : topic]),
        )
      },
    }
  },
}
