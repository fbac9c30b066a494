import { expect, test } from 'vitest'
import { containerEnv, type DeployOptions, functionSpec } from '../../../../lib/local/lambda-host/function-spec.ts'

const options: DeployOptions = { name: 'relay', code: { bundleDir: 'dist' }, handler: 'relay.handler' }
const spec = (changes: Partial<DeployOptions> = {}) => functionSpec({ ...options, ...changes }, '/task', 'eu-west-1', 3)

test('what is not said gets a default', () => {
  expect(spec()).toEqual({
    name: 'relay',
    taskRoot: '/task',
    handler: 'relay.handler',
    memoryMb: 512,
    timeoutMs: 30_000,
    env: {},
    maxConcurrency: 10,
    hop: false,
    generation: 3,
    region: 'eu-west-1',
    arn: 'arn:aws:lambda:eu-west-1:000000000000:function:relay',
  })
})

test.each<[Partial<DeployOptions>, string]>([
  [{ memoryMb: 64 }, 'function memoryMb is 64; wanted a whole number, 128 to 10240'],
  [{ timeoutMs: 900_001 }, 'function timeoutMs is 900001; wanted a whole number, 1 to 900000'],
  [{ maxConcurrency: 0 }, 'function maxConcurrency is 0; wanted a whole number, 1 to 1000'],
  [{ name: 'a b' }, 'function name is "a b"; wanted 1 to 64 letters'],
  [{ handler: 'relay' }, 'function handler is "relay"; wanted module and export'],
])('%j is refused', (changes, message) => {
  expect(() => spec(changes)).toThrow(message)
})

test("the user's variables reach the function, the reserved ones stay Lambda's", () => {
  const env = containerEnv(spec({ env: { MINE: '1', AWS_REGION: 'other', AWS_ACCESS_KEY_ID: 'key' } }), 'h:1', 's-1')
  expect(env).toMatchObject({
    MINE: '1',
    AWS_ACCESS_KEY_ID: 'key',
    FENCEPOST_GENERATION: '3',
    AWS_REGION: 'eu-west-1',
    AWS_LAMBDA_RUNTIME_API: 'h:1',
    AWS_LAMBDA_LOG_STREAM_NAME: 's-1',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '512',
    _HANDLER: 'relay.handler',
    LAMBDA_TASK_ROOT: '/task',
  })
})

test("nothing of the host's own environment leaks in", () => {
  process.env.HOST_ONLY = 'secret'
  expect(containerEnv(spec(), 'h:1', 's-1')).not.toHaveProperty('HOST_ONLY')
  delete process.env.HOST_ONLY
})
