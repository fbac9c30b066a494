/**
 * `npm run test:acl`: the relay on a real broker with Kafka's StandardAuthorizer. It works with exactly the ACLs of
 * docs/operations/acls.md; with each one taken away it says which, and loses nothing. `--json`: the sum as the last line.
 */
import { parseArgs } from 'node:util'
import { messageOf } from '../../lib/errors.ts'
import { kafkaVersions } from '../../lib/local/kafka-jars.ts'
import { acls } from './cases.ts'
import { runAclCases } from './run.ts'

const help = `npm run test:acl [-- --json] [--kafka 3.9]

Starts a broker that goes by ACLs, relays with exactly those of docs/operations/acls.md, then with each one taken away:
from a container that starts, from one at work, and with Describe left. Exit code: 0 all as documented, 1 not.`

const { values } = parseArgs({
  options: { json: { type: 'boolean' }, help: { type: 'boolean' }, kafka: { type: 'string', default: '4.1' } },
})

async function run(): Promise<void> {
  const startedMs = performance.now()
  const version = kafkaVersions.find((each) => each === values.kafka)
  if (version === undefined) throw new Error(`--kafka takes ${kafkaVersions.join(' or ')}, not '${values.kafka}'`)
  const results = await runAclCases(version, ({ ok, acl, way, said }) =>
    console.error(`${ok ? '✓' : '✗'} ${acl === 'all' ? `with all, ${way}` : `without ${acl}, ${way}`}: ${said}`),
  )
  const failed = results.filter(({ ok }) => !ok)
  const sum = {
    ok: failed.length === 0,
    kafka: version,
    acls: acls.length,
    required: acls.filter(({ required }) => required).length,
    cases: results.length,
    failed: failed.map(({ acl, way, said }) => ({ acl, way, said })),
    seconds: Math.round((performance.now() - startedMs) / 100) / 10,
  }
  console.log(
    values.json ? JSON.stringify(sum) : `${sum.cases - failed.length} of ${sum.cases} as documented, ${sum.seconds} s`,
  )
  process.exitCode = sum.ok ? 0 : 1
}

if (values.help) console.log(help)
else
  await run().catch((error) => {
    if (values.json) console.log(JSON.stringify({ ok: false, message: messageOf(error) }))
    console.error(error)
    process.exitCode = 1
  })
