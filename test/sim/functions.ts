import type { InvocationReport } from '../../lib/relay/invocation.ts'
import { type Ring, SimContainer } from './container.ts'
import type { World } from './world.ts'

/** What whoever rang gets to know. */
export type FunctionAnswer = 'success' | 'failure'

/** Lambda: warm containers are used again, busy ones are not, and whoever is invoked while all are busy starts a new one. */
export class SimFunctions {
  /** Of the deployment that new containers belong to. */
  generation = 1
  private readonly world: World
  private newestGeneration = 1
  private containers: SimContainer[] = []
  private started = 0
  private requests = 0
  private busy = 0
  private whenIdle: (() => void)[] = []

  constructor(world: World) {
    this.world = world
  }

  async invoke(bell: Ring): Promise<FunctionAnswer> {
    this.busy++
    const container = await this.container()
    const request = `request-${++this.requests}`
    const { journal, judge } = this.world
    if (container.generation < this.newestGeneration) journal.fault('older-deployment', container.process.name)
    this.newestGeneration = Math.max(this.newestGeneration, container.generation)
    journal.note(container.process.name, `${request} ${describeBell(bell)}`)
    const answer = await container.invoke(bell, request)
    journal.note(container.process.name, `${request} ${describeAnswer(answer)}`)
    judge.heard(bell, answer)
    this.busy--
    if (this.busy === 0) for (const wake of this.whenIdle.splice(0)) wake()
    return this.asHeard(answer)
  }

  /** Resolves when nobody is at work. */
  async idle(): Promise<void> {
    while (this.busy > 0) await new Promise<void>((resolve) => this.whenIdle.push(resolve))
  }

  /** Everything that is warm is gone: a new deployment, or a quiet night. */
  discard(): void {
    for (const { process } of this.containers) process.die()
    this.containers = []
  }

  private async container(): Promise<SimContainer> {
    const { plan, dice } = this.world
    this.containers = this.containers.filter(({ process }) => !process.isDead)
    const idle = this.containers.filter(({ isBusy }) => !isBusy)
    if (idle.length > 0 && !dice.chance(plan.functions.cold)) return dice.pick(idle)
    const container = await SimContainer.start(this.world, `container-${++this.started}`, this.generation)
    this.containers.push(container)
    return container
  }

  private asHeard(answer: InvocationReport | Error | null): FunctionAnswer {
    const { weather, dice, plan, journal } = this.world
    const isOk = answer !== null && !(answer instanceof Error) && answer.ok
    if (!isOk || !weather.isRough || !dice.chance(plan.functions.answerLost)) return isOk ? 'success' : 'failure'
    journal.fault('answer-of-function-lost', 'functions')
    return 'failure'
  }
}

function describeBell(bell: Ring): string {
  if (bell.kind !== 'event') return bell.kind
  return `event ${bell.partitions.map((one) => `${one.partition}:${one.firstOffset}-${one.lastOffset}`).join(' ')}`
}

function describeAnswer(answer: InvocationReport | Error | null): string {
  if (answer === null) return 'died'
  if (answer instanceof Error) return `threw ${answer.message}`
  return answer.lanes
    .map(({ id, kind, ...rest }) => `${id.lane} ${kind}${'code' in rest ? ` ${rest.code}` : ''}`)
    .join(', ')
}
