/** Secrets Manager and Parameter Store as far as reading goes, for the real AWS SDK: their JSON protocols over HTTP. */
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { close, listen } from '../../lib/local/http-server.ts'

export interface AwsSecrets {
  /** What a process needs to read from here. */
  readonly env: Readonly<Record<string, string>>
  /** Every name that was asked for, in order. */
  readonly asked: readonly string[]
  set(name: string, text: string): void
  /** From now on all questions are answered with this error, as the services name theirs; null: no more. */
  fail(name: string | null): void
  stop(): Promise<void>
}

interface Question {
  readonly SecretId?: string
  readonly Name?: string
}

export async function startAwsSecrets(texts: Readonly<Record<string, string>> = {}): Promise<AwsSecrets> {
  const kept = new Map(Object.entries(texts))
  const asked: string[] = []
  let failure: string | null = null

  const server = createServer(async (request, response) => {
    const { SecretId, Name } = (await json(request)) as Question
    const [service] = String(request.headers['x-amz-target']).split('.')
    const name = SecretId ?? Name ?? ''
    asked.push(name)
    const missing = service === 'AmazonSSM' ? 'ParameterNotFound' : 'ResourceNotFoundException'
    const text = kept.get(name)
    const error = failure ?? (text === undefined ? missing : null)
    const answer =
      service === 'AmazonSSM' ? { Parameter: { Name: name, Value: text } } : { Name: name, SecretString: text }
    response.writeHead(error === null ? 200 : 400, { 'content-type': 'application/x-amz-json-1.1' })
    response.end(JSON.stringify(error === null ? answer : { __type: error, message: `${error} of ${name}` }))
  })
  const endpoint = `http://127.0.0.1:${await listen(server, 'the secrets of a test')}`
  return {
    env: {
      AWS_ENDPOINT_URL_SECRETS_MANAGER: endpoint,
      AWS_ENDPOINT_URL_SSM: endpoint,
      AWS_REGION: 'eu-west-1',
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
    },
    asked,
    set: (name, text) => void kept.set(name, text),
    fail(name) {
      failure = name
    },
    stop: () => close(server),
  }
}
