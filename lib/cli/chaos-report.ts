import type { ChaosOptions, ChaosOutcome, ChaosProgress } from '../local/chaos/chaos.ts'
import { type Stretch, stretches } from '../local/chaos/timeline.ts'
import { figure, plural } from '../verify/finding.ts'
import { bold, CommandFailed, type Terminal } from './terminal.ts'
import { columnsOf, findingLines, wrapped } from './verify-text.ts'

type ChaosPlan = Pick<ChaosOptions, 'subject' | 'kafka' | 'rate' | 'seed' | 'faults' | 'forMs' | 'everyMs'>

/** What is going to happen. */
export function chaosIntroduction(plan: ChaosPlan): readonly string[] {
  const { subject, kafka, rate, seed, faults, forMs, everyMs } = plan
  return [
    '',
    `${subject.name} relays ${figure(rate)} records a second on three brokers of Kafka ${kafka} for ${figure(forMs / 1_000)} s.`,
    `Every ${figure(everyMs / 1_000)} s one of ${plural(faults.length, 'kind')} of fault, in the order of seed ${seed}.`,
    'Then all is read back from the log, and compared with what a consumer saw meanwhile.',
    '',
  ]
}

const barCells = 30

/** Fits into 80 columns. */
export function chaosLines(progress: ChaosProgress, forMs: number): readonly string[] {
  const { seconds, written, relayed, windows, seen, invocations, redelivered, active } = progress
  const filled = Math.min(barCells, Math.floor((barCells * seconds * 1_000) / forMs))
  return [
    `  time       ${'█'.repeat(filled)}${'░'.repeat(barCells - filled)} ${Math.floor(seconds)} of ${forMs / 1_000} s`,
    `  records    ${figure(written)} written, ${figure(relayed)} relayed, ${figure(waiting(progress))} wait`,
    `  reader     ${figure(seen)} outputs seen by Kafka's own consumer, read_committed`,
    `  functions  ${figure(invocations)} invocations, ${figure(windows)} transactions committed`,
    `             ${figure(redelivered)} batches delivered again`,
    `  faults     ${active.join(', ') || 'none'}`,
  ]
}

export function chaosLine(progress: ChaosProgress): string {
  const { seconds, written, relayed, windows, seen, active } = progress
  const parts = [
    `${Math.floor(seconds)} s: ${figure(written)} written`,
    `${figure(relayed)} relayed`,
    `${figure(waiting(progress))} waiting`,
    `${figure(seen)} seen`,
    `${figure(windows)} transactions`,
    ...(active.length > 0 ? [`now ${active.join(' + ')}`] : []),
  ]
  return parts.join(', ')
}

/** Counted one after another: what was read first may be the smaller by a little. */
const waiting = ({ written, relayed }: ChaosProgress): number => Math.max(0, written - relayed)

/**
 * Tells what has happened and whether it is proven; with `json` the result is the last line of stdout.
 * @throws CommandFailed unless it is proven
 */
export function concludeChaos(outcome: ChaosOutcome, terminal: Terminal, json: boolean): void {
  for (const line of conclusion(outcome, terminal)) (json ? terminal.err : terminal.out)(line)
  if (json) terminal.out(JSON.stringify(outcome.result))
  if (!outcome.result.ok) throw new CommandFailed()
}

const timelineRows = 24

function conclusion(outcome: ChaosOutcome, terminal: Terminal): readonly string[] {
  const { samples, events, report, tally, result, logDir } = outcome
  const columns = columnsOf(terminal)
  return [
    '',
    row('second', 'written', 'relayed', 'lag', 'windows', 'faults at work'),
    ...stretches(samples, events, timelineRows).map(stretchRow),
    '',
    ...events.flatMap(({ name, beganMs, hit }) => {
      const second = Math.round((beganMs - (samples[0]?.atMs ?? beganMs)) / 1_000)
      return wrapped(`${second} s ${name}: ${hit ?? 'found nothing to hit'}`, columns)
    }),
    '',
    ...report.findings.flatMap((finding) => findingLines(finding, columns)),
    ...(tally.examples.length > 0 ? ["Kafka's own consumer saw:", ...tally.examples.map((one) => `    ${one}`)] : []),
    '',
    ...verdict(outcome).flatMap((line) => wrapped(line, columns).map((part) => bold(terminal, part))),
    `${plural(result.windows, 'window')} committed, ${figure(result.abortedWindows)} aborted, ${plural(result.invocations, 'invocation')}.`,
    `Again, in the same order: --seed ${result.seed}. Logs: ${logDir}`,
  ]
}

function verdict({ report, tally, result }: ChaosOutcome): readonly string[] {
  const never = Object.entries(result.faultsFired).flatMap(([name, count]) => (count === 0 ? [name] : []))
  const reader = `Kafka's own consumer counted ${figure(tally.seen)} outputs, ${figure(tally.lost)} records lost, ${figure(tally.duplicated)} doubled`
  return [
    report.sentence,
    result.readerAgreed ? `${reader}: it agrees.` : `${reader}: it DISAGREES with the verifier.`,
    ...(result.deadLetters > 0
      ? [`${plural(result.deadLetters, 'record')} went to the dead letters, although nothing is wrong with them.`]
      : []),
    ...(never.length > 0
      ? [`Faults that struck nothing, so that the run says nothing of them: ${never.join(', ')}.`]
      : []),
  ]
}

const stretchRow = ({ second, written, relayed, lag, windows, faults }: Stretch): string =>
  row(String(second), figure(written), figure(relayed), figure(lag), figure(windows), faults.join(' '))

const row = (second: string, written: string, relayed: string, lag: string, windows: string, faults: string): string =>
  `${second.padStart(6)}${written.padStart(10)}${relayed.padStart(10)}${lag.padStart(8)}${windows.padStart(8)}  ${faults}`
