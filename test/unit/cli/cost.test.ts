import { describe, expect, test } from 'vitest'
import { runCli } from '../../../lib/cli/program.ts'
import type { Terminal } from '../../../lib/cli/terminal.ts'

async function run(args: readonly string[], columns?: number) {
  const lines: string[] = []
  const errors: string[] = []
  const terminal: Terminal = {
    out: (line) => lines.push(line),
    err: (line) => errors.push(line),
    color: false,
    ...(columns !== undefined && { screen: { columns, write: () => undefined } }),
    interrupted: new AbortController().signal,
  }
  const code = await runCli(['cost', ...args], terminal)
  return { code, lines, errors: errors.join('\n') }
}

describe('fencepost cost', () => {
  test('shows every way side by side, marks the cheapest and says what a deployment sets up', async () => {
    const { code, lines } = await run(['--records-per-second', '50'])
    expect(code).toBe(0)
    const text = lines.join('\n')
    for (const way of ['schedule', 'lingering pull', 'provisioned ESM', 'worker', 'Managed Flink'])
      expect(text).toMatch(new RegExp(`^ +${way} `, 'm'))
    expect(text).toMatch(/^→ on-demand ESM/m)
    expect(lines.join(' ')).toContain('It is what a deployment sets up for this latency.')
    expect(text).toMatch(/131 GB a month/)
  })

  test.each([80, 76, 60, 40])(
    'no line is wider than a window of %i columns, and the prices are there',
    async (columns) => {
      const { lines } = await run(['--records-per-second', '20,000', '--latency', '1s', '--partitions', '100'], columns)
      for (const line of lines.flatMap((text) => text.split('\n'))) expect(line.length).toBeLessThanOrEqual(columns)
      expect(lines.join('\n')).toContain('$/month')
    },
  )

  test('--json is one line with every item of every bill and the prices it was made of', async () => {
    const { code, lines } = await run(['--records-per-second', '0.2', '--latency', '5m', '--json'])
    expect(code).toBe(0)
    expect(lines).toHaveLength(1)
    const found = JSON.parse(lines[0] ?? '')
    expect(found).toMatchObject({ ok: true, region: 'us-east-1', deployed: 'pull', load: { latencyMs: 300_000 } })
    expect(found.offers.map(({ name }: { name: string }) => name)).toEqual([
      'pull',
      'events',
      'linger',
      'provisioned',
      'worker',
      'flink',
    ])
    expect(found.prices.epuHours).toMatchObject({ usd: 0.185, trust: 'aws' })
    expect(found.offers[0].items[0]).toMatchObject({ part: expect.any(String), usd: expect.any(Number) })
  })

  test('nonsense is refused with value, bound and fix, all at once', async () => {
    const { code, errors } = await run(['--records-per-second=-3', '--partitions', '0', '--output-factor', '1e9'])
    expect(code).toBe(1)
    expect(errors).toMatch(/--records-per-second is -3, wanted a number from 0\.001 to 10,000,000\. Fix: /)
    expect(errors).toMatch(/--partitions is 0, wanted a whole number from 1 to 10,000\. Fix: /)
    expect(errors).toMatch(/--output-factor is 1000000000, wanted a number from 0 to 1,000\. Fix: /)
  })

  test.each([
    [['--records-per-second', 'many'], /"many" is not a number/],
    [['--records-per-second', '5', '--latency', 'soon'], /"soon" is not a duration/],
    [[], /required option '--records-per-second/],
  ])('%j is wrong usage', async (args, message) => {
    const { code, errors } = await run(args)
    expect(code).toBe(2)
    expect(errors).toMatch(message)
  })

  test('when none will do, that is said', async () => {
    const { lines } = await run(['--records-per-second', '9,000,000', '--partitions', '1', '--latency', '0ms'])
    expect(lines.join('\n')).toMatch(/None keeps up within the latency/)
    expect(lines.join('\n')).toMatch(/never/)
  })
})
