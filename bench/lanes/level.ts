import { invariant } from '../../lib/invariant.ts'
import { createTopics } from '../../lib/local/topics.ts'
import { seconds } from '../../lib/units.ts'
import type { VerifyReport } from '../../lib/verify/report.ts'
import { verifyRelay } from '../../lib/verify/verify-relay.ts'
import { NumberedRecords } from '../numbered-records.ts'
import { copyRelay } from '../ours/copy-relay.ts'
import type { RequestCounts } from '../ours/counting-transport.ts'
import type { LanesAnswer, LanesQuestion } from '../ours/lanes-subject.ts'
import { type Subject, startSubject } from '../subject.ts'
import type { Surroundings } from '../surroundings.ts'
import { type BrokerUse, brokerUse } from './broker-meter.ts'
import { type FeedPlan, PacedFeed } from './paced-feed.ts'
import { type Commits, readCommits } from './read-commits.ts'

/** Partitions of the source, and as many of the output. */
export interface LanesPlan extends FeedPlan {
  readonly partitionsPerLane: number
  readonly containers: number
  /** Operating system processes that the containers share. */
  readonly processes: number
  readonly seconds: number
}

/** What was measured between two moments of a steady run. */
export interface LevelRun {
  readonly commitEveryMs: number
  readonly lanes: number
  readonly before: Reading
  readonly after: Reading
  readonly output: Commits
  /** Of the offsets: one marker for each transaction. */
  readonly offsets: Commits
  readonly proof: VerifyReport
}

export interface Reading extends BrokerUse {
  readonly atMs: number
  readonly relay: Omit<LanesAnswer, 'failures'>
}

const warmUpMs = seconds(5)
const lookEveryMs = 100
/** After which lanes that do not come to the end are given up. */
const patienceMs = seconds(60)

/** All lanes at work side by side, committing every so often: from the first start to the verifier's word. */
export async function measureLevel(
  place: Surroundings,
  plan: LanesPlan,
  commitEveryMs: number,
  signal: AbortSignal,
): Promise<LevelRun> {
  const { cluster, broker } = place
  const name = `every-${commitEveryMs}`
  const topics = { source: `source.${name}`, output: `output.${name}` }
  await createTopics(cluster, new Map(Object.values(topics).map((topic) => [topic, plan.partitions])))
  const writer = await NumberedRecords.open(cluster)
  const feed = new PacedFeed(writer, cluster.clock, topics.source, plan)
  const subjects = await startSubjects(place, plan, { ...topics, name, commitEveryMs }, signal)
  const read = async (): Promise<Reading> => {
    const [relay, use] = await Promise.all([tell(subjects), brokerUse(broker)])
    return { atMs: cluster.clock.now(), relay, ...use }
  }
  const over = new AbortController()
  try {
    await handOutLanes(subjects, feed, plan)
    const fed = feed.run(over.signal)
    fed.catch(() => undefined) // awaited below, once the feed has been told to end
    await cluster.clock.sleep(warmUpMs + 2 * commitEveryMs, signal)
    const before = await read()
    await cluster.clock.sleep(seconds(plan.seconds), signal)
    const after = await read()
    over.abort()
    await fed
    await untilRelayed(subjects, feed.records, commitEveryMs, place)
    const relay = copyRelay({ ...topics, commitEveryMs, partitionsPerLane: plan.partitionsPerLane })
    const proof = await verifyRelay({ relay, prefix: name, cluster, complete: true })
    const span = { fromMs: before.atMs, untilMs: after.atMs }
    const output = await readCommits(cluster, topics.output, span)
    const offsets = await readCommits(cluster, '__consumer_offsets', span)
    return { commitEveryMs, lanes: lanesIn(plan), before, after, output, offsets, proof }
  } finally {
    over.abort()
    await Promise.all(subjects.map((subject) => subject.stop()))
  }
}

interface LevelNames {
  readonly name: string
  readonly source: string
  readonly output: string
  readonly commitEveryMs: number
}

function startSubjects(
  { env, dir }: Surroundings,
  { processes, partitionsPerLane }: LanesPlan,
  { name, source, output, commitEveryMs }: LevelNames,
  signal: AbortSignal,
): Promise<Subject[]> {
  const start = (index: number) =>
    startSubject({
      name: `${name}-${index}`,
      module: 'ours/lanes-subject.ts',
      dir,
      env: {
        ...env,
        BENCH_SOURCE: source,
        BENCH_OUTPUT: output,
        BENCH_COMMIT_EVERY_MS: String(commitEveryMs),
        BENCH_PARTITIONS_PER_LANE: String(partitionsPerLane),
        FENCEPOST_PREFIX: name,
      },
      signal,
    })
  return Promise.all(Array.from({ length: processes }, (_, index) => start(index)))
}

/** All lanes start, then each container in turn opens its own. */
async function handOutLanes(subjects: readonly Subject[], feed: PacedFeed, plan: LanesPlan): Promise<void> {
  const ask = (index: number, question: LanesQuestion) => subjects[index % subjects.length]?.ask(question)
  await ask(0, { do: 'first start' })
  for (let container = 0; container < Math.min(plan.containers, lanesIn(plan)); container++) {
    const partitions = partitionsOf(container, plan)
    await feed.first(partitions)
    await ask(container, { do: 'open', container, partitions })
  }
}

function partitionsOf(container: number, { partitions, partitionsPerLane, containers }: LanesPlan): readonly number[] {
  const all = Array.from({ length: partitions }, (_, partition) => partition)
  return all.filter((partition) => Math.floor(partition / partitionsPerLane) % containers === container)
}

export const lanesIn = ({ partitions, partitionsPerLane }: LanesPlan): number =>
  Math.ceil(partitions / partitionsPerLane)

async function untilRelayed(
  subjects: readonly Subject[],
  records: number,
  commitEveryMs: number,
  { cluster: { clock } }: Surroundings,
): Promise<void> {
  const endMs = clock.now() + patienceMs + 2 * commitEveryMs
  for (let relayed = 0; relayed < records; relayed = (await tell(subjects)).records) {
    invariant(clock.now() < endMs, 'the lanes come to the end of the source', { relayed, records })
    await clock.sleep(lookEveryMs)
  }
}

/** All processes together. @throws RelayError INVARIANT_BROKEN when anything failed: such a run measures something else */
async function tell(subjects: readonly Subject[]): Promise<Omit<LanesAnswer, 'failures'>> {
  const answers = await Promise.all(subjects.map((subject) => subject.ask<LanesAnswer>({ do: 'tell' })))
  const failures = answers.flatMap((answer) => answer.failures)
  invariant(failures.length === 0, `no container and no lane fails: ${failures.slice(0, 5).join('; ')}`, {})
  const sum = (of: (answer: LanesAnswer) => number) => answers.reduce((total, answer) => total + of(answer), 0)
  return {
    requests: answers.map(({ requests }) => requests).reduce(addCounts, {}),
    windows: sum(({ windows }) => windows),
    records: sum(({ records }) => records),
    cpuSeconds: sum(({ cpuSeconds }) => cpuSeconds),
    rssMiB: sum(({ rssMiB }) => rssMiB),
  }
}

function addCounts(one: RequestCounts, other: RequestCounts): RequestCounts {
  const apis = [...new Set([...Object.keys(one), ...Object.keys(other)])] as (keyof RequestCounts)[]
  return Object.fromEntries(apis.map((api) => [api, (one[api] ?? 0) + (other[api] ?? 0)]))
}
