import { checks, checksOfAnyRelay, type Judgement, judge } from './judge.ts'
import type { VerifyOptions } from './options.ts'
import { readHistory } from './read-history.ts'
import { reportOf, type VerifyReport } from './report.ts'

/**
 * Proves from the log that a relay relayed every record once and in order, or says where it did not. Only reads, and may
 * run beside the relay. What is proven is written at the checks (judge.ts).
 *
 * Memory: about 100 bytes per output, so 3,000,000 fit 1 GiB with room to spare.
 *
 * ```ts
 * const report = await verifyRelay({ relay: delays, prefix: 'shop-prod', cluster, complete: true })
 * if (!report.ok) throw new Error(report.sentence)
 * ```
 * @throws RelayError when nothing can be told: BROKER_UNAVAILABLE, TOPIC_MISSING, NOT_AUTHORIZED, OFFSET_OUT_OF_RANGE
 *   (retention was quicker), RECORD_REJECTED_STOP and others of the relay's own transform
 */
export async function verifyRelay(options: VerifyOptions): Promise<VerifyReport> {
  const { clock } = options.cluster
  const beganMs = clock.now()
  const { history, lookAhead } = await readHistory(options)
  const asked = options.relayedBy === 'another' ? checksOfAnyRelay : checks
  let judgement = judge(history, asked)
  if (mayBeAhead(judgement)) judgement = judge(await lookAhead(), asked)
  const seconds = (clock.now() - beganMs) / 1000
  return reportOf(judgement, { complete: options.complete ?? false, seconds })
}

/**
 * An output that no committed record gives may come from one that is not committed. Only then are those transformed: the
 * relay has not been there yet, and a record that it will stop at, or die of, may wait among them.
 */
function mayBeAhead({ findings }: Judgement): boolean {
  const count = (check: string) => findings.find((finding) => finding.check === check)?.count ?? 0
  return count('lag') > 0 && count('unexplained') + count('foreign') > 0
}
