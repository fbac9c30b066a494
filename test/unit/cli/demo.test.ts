import { expect, test } from 'vitest'
import { runCli } from '../../../lib/cli/program.ts'

test.each([
  [['--records', '0'], '"0" is not a whole number from 1 to 3,000,000'],
  [['--records', '3000001'], '"3000001" is not a whole number from 1 to 3,000,000'],
  [['--records', 'many'], '"many" is not a whole number'],
  [['--kills', '601'], '"601" is not a whole number from 1 to 600'],
  [['--seconds', '1.5'], '"1.5" is not a whole number from 1 to 3,600'],
  [['--kafka', '2.8'], 'Allowed choices are 4.1, 3.9'],
])('demo %j is a usage error that names the bounds', async (args, message) => {
  const stderr: string[] = []
  const terminal = {
    out: () => undefined,
    err: (line: string) => stderr.push(line),
    color: false,
    interrupted: new AbortController().signal,
  }
  expect(await runCli(['demo', ...args], terminal)).toBe(2)
  expect(stderr.join('\n')).toContain(message)
})
