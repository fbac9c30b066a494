/** A process with one frozen and one busy container; prints their pids and waits to be killed. */
import { createLambdaHost } from '../../lib/local/lambda-host/lambda-host.ts'
import { eventually, markedEnv } from './lambda-functions.ts'

const host = createLambdaHost({ logDir: process.argv[3] ?? '' })
await host.deploy({ name: 'f', code: { bundleDir: process.argv[2] ?? '' }, handler: 'main.handler', env: markedEnv() })
await host.warm('f', 2)
void host.invoke('f', {})
await eventually('one container is busy', () => host.containers().some(({ state }) => state === 'busy'))
console.log(JSON.stringify(host.containers().map(({ pid, state }) => ({ pid, state }))))
