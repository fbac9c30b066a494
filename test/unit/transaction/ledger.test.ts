import { describe, expect, test } from 'vitest'
import { RelayError } from '../../../lib/errors.ts'
import { SessionLedger } from '../../../lib/transaction/ledger.ts'

const tp = { topic: 'out', partition: 0 }
const reason = () => new RelayError('SESSION_POISONED', 'an odd answer')
const codeOf = (work: () => unknown): string => {
  try {
    work()
    return 'nothing thrown'
  } catch (error) {
    return error instanceof RelayError ? error.code : String(error)
  }
}

const ledgerAt = (protocol: 1 | 2, producerEpoch = 5) =>
  new SessionLedger('id', protocol, { producerId: 7n, producerEpoch })

function openLedger(protocol: 1 | 2, epoch?: number): SessionLedger {
  const ledger = ledgerAt(protocol, epoch)
  ledger.begin([tp])
  return ledger
}

function answered(ledger: SessionLedger): void {
  ledger.transmit('transmit').answered()
  ledger.accept()
}

function committedOnce(ledger: SessionLedger, answer: { producerId: bigint; producerEpoch: number } | null): void {
  ledger.offsetsIn()
  ledger.commit()
  ledger.transmit('transmit-end').answered()
  ledger.end(answer)
}

describe('transmissions', () => {
  test('count as unanswered from before they leave until they are answered or proved not to have left', () => {
    const ledger = openLedger(2)
    const first = ledger.transmit('transmit')
    const second = ledger.transmit('transmit')
    expect(ledger.unanswered).toBe(2)
    first.answered()
    second.unsent()
    expect(ledger.unanswered).toBe(0)
    expect(ledger.hasTransmitted).toBe(true)
  })

  test('what never left is not transmitted', () => {
    const ledger = openLedger(2)
    ledger.transmit('transmit').unsent()
    expect(ledger.hasTransmitted).toBe(false)
  })

  test('are refused outside of a transaction', () => {
    expect(codeOf(() => ledgerAt(2).transmit('transmit'))).toBe('INVARIANT_BROKEN')
  })
})

describe('reuse (R5)', () => {
  test('protocol 2 goes on after an unanswered transmission: the next transaction has another epoch', () => {
    const ledger = openLedger(2)
    ledger.transmit('transmit')
    committedOnce(ledger, { producerId: 7n, producerEpoch: 6 })
    expect(ledger.state).toBe('ready')
    expect(ledger.unanswered).toBe(0)
    expect(ledger.identity).toEqual({ producerId: 7n, producerEpoch: 6 })
  })

  test('protocol 1 does not: a late copy would land in the next transaction (P3)', () => {
    const ledger = openLedger(1)
    ledger.transmit('transmit')
    committedOnce(ledger, null)
    expect(ledger.state).toBe('closed')
    expect(codeOf(() => ledger.begin([]))).toBe('SESSION_POISONED')
  })

  test('protocol 1 goes on when every transmission was answered', () => {
    const ledger = openLedger(1)
    answered(ledger)
    committedOnce(ledger, null)
    expect(ledger.state).toBe('ready')
    expect(ledger.identity).toEqual({ producerId: 7n, producerEpoch: 5 })
  })

  test('an unanswered EndTxn that was sent again counts as well', () => {
    const ledger = openLedger(1)
    ledger.offsetsIn()
    ledger.commit()
    ledger.transmit('transmit-end')
    ledger.transmit('transmit-end').answered()
    ledger.end(null)
    expect(ledger.state).toBe('closed')
  })

  test('an answer that is not the successor of this epoch ends the transaction and the session', () => {
    const ledger = openLedger(2)
    committedOnce(ledger, { producerId: 7n, producerEpoch: 9 })
    expect(ledger.state).toBe('closed')
  })

  test('ends at epoch 32766 (P4), and not before', () => {
    const last = openLedger(2, 32_764)
    committedOnce(last, { producerId: 7n, producerEpoch: 32_765 })
    expect(last.state).toBe('ready')
    const spent = openLedger(2, 32_765)
    committedOnce(spent, { producerId: 7n, producerEpoch: 32_766 })
    expect(spent.state).toBe('closed')
  })
})

describe('commit', () => {
  test('needs the source offsets', () => {
    const ledger = openLedger(2)
    answered(ledger)
    expect(codeOf(() => ledger.commit())).toBe('INVARIANT_BROKEN')
    expect(ledger.state).toBe('poisoned')
  })

  test('needs them in each transaction anew', () => {
    const ledger = openLedger(2)
    committedOnce(ledger, { producerId: 7n, producerEpoch: 6 })
    ledger.begin([tp])
    expect(codeOf(() => ledger.commit())).toBe('INVARIANT_BROKEN')
  })

  test('is refused while something is still being sent', async () => {
    const ledger = openLedger(2)
    ledger.offsetsIn()
    let finish = () => undefined
    const sending = ledger.during(
      () => new Promise<undefined>((resolve) => (finish = () => resolve(undefined) as undefined)),
    )
    expect(codeOf(() => ledger.commit())).toBe('INVARIANT_BROKEN')
    finish()
    await sending
    expect(codeOf(() => ledger.commit())).toBe('SESSION_POISONED')
  })

  test('is refused after any doubt, with the reason', () => {
    const ledger = openLedger(2)
    ledger.offsetsIn()
    ledger.doubt(reason())
    expect(() => ledger.commit()).toThrow('an odd answer')
  })
})

describe('abort (R11)', () => {
  test('may be sent when every transmission was answered', () => {
    const ledger = openLedger(2)
    answered(ledger)
    expect(ledger.abort()).toBe(true)
    expect(ledger.state).toBe('aborting')
  })

  test('is left to the barrier after an unanswered transmission (P5)', () => {
    const ledger = openLedger(2)
    ledger.transmit('transmit')
    expect(ledger.abort()).toBe(false)
    expect(ledger.state).toBe('closed')
  })

  test('is left to the barrier while something is still being sent', async () => {
    const ledger = openLedger(2)
    await ledger.during(async () => expect(ledger.abort()).toBe(false))
  })

  test('of a poisoned session ends in closed, whatever is answered', () => {
    const ledger = openLedger(2)
    answered(ledger)
    ledger.doubt(reason())
    expect(ledger.abort()).toBe(true)
    ledger.transmit('transmit-end').answered()
    ledger.end({ producerId: 7n, producerEpoch: 6 })
    expect(ledger.state).toBe('closed')
  })

  test('is never sent where it could revive a session into the last epoch (P4)', () => {
    expect(openLedger(2, 32_763).abort()).toBe(true)
    expect(openLedger(2, 32_764).abort()).toBe(false)
    expect(openLedger(1, 32_766).abort()).toBe(true)
  })

  test('is refused once fenced', () => {
    const ledger = openLedger(2)
    ledger.fence(new RelayError('SESSION_FENCED', '47'))
    expect(codeOf(() => ledger.abort())).toBe('SESSION_FENCED')
    expect(codeOf(() => ledger.transmit('transmit'))).toBe('SESSION_FENCED')
  })
})

describe('writing', () => {
  test('has one writer per partition at a time, and only where the transaction was announced', async () => {
    const ledger = openLedger(2)
    await ledger.whileWriting([tp], async () => {
      await expect(ledger.whileWriting([tp], async () => 1)).rejects.toThrow('INVARIANT_BROKEN')
    })
    await expect(openLedger(2).whileWriting([tp, tp], async () => 1)).rejects.toThrow('INVARIANT_BROKEN')
    await expect(openLedger(2).whileWriting([{ topic: 'other', partition: 0 }], async () => 1)).rejects.toThrow(
      'other-0',
    )
  })

  test('frees its partitions when it fails', async () => {
    const ledger = openLedger(2)
    await ledger.whileWriting([tp], async () => Promise.reject(reason())).catch(() => undefined)
    expect(await ledger.whileWriting([tp], async () => 'again')).toBe('again')
  })

  test('numbers batches per partition; they go on with the session on protocol 1 and start at 0 on protocol 2', () => {
    const older = openLedger(1)
    expect([older.nextSequence(tp, 3), older.nextSequence(tp, 2)]).toEqual([0, 3])
    expect(older.nextSequence({ topic: 'out', partition: 1 }, 1)).toBe(0)
    committedOnce(older, null)
    expect(older.nextSequence(tp, 1)).toBe(5)

    const newer = openLedger(2)
    newer.nextSequence(tp, 3)
    committedOnce(newer, { producerId: 7n, producerEpoch: 6 })
    expect(newer.nextSequence(tp, 1)).toBe(0)
  })
})

describe('refusals tell the owner what happened', () => {
  test.each([
    ['fenced', 'SESSION_FENCED', 'not-applied'],
    ['unknown', 'COMMIT_UNKNOWN', 'unknown'],
    ['poisoned', 'SESSION_POISONED', 'not-applied'],
    ['closed', 'SESSION_POISONED', 'not-applied'],
  ] as const)('%s -> %s (%s)', (state, code, outcome) => {
    const ledger = openLedger(2)
    if (state === 'fenced') ledger.fence(reason())
    if (state === 'poisoned') ledger.doubt(reason())
    if (state === 'closed') ledger.abandon(reason())
    if (state === 'unknown') {
      ledger.offsetsIn()
      ledger.commit()
      ledger.doubt(reason())
    }
    expect(ledger.state).toBe(state)
    try {
      ledger.begin([])
      expect.unreachable()
    } catch (error) {
      expect(error).toMatchObject({
        code,
        outcome,
        context: { transactionalId: 'id', producerId: '7', producerEpoch: 5 },
      })
    }
  })
})
