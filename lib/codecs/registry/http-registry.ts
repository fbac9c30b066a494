import { systemClock } from '../../clock.ts'
import { isRelayError, messageOf, RelayError } from '../../errors.ts'
import type { RegisteredSchema, SchemaReference, SchemaRegistry, SchemaText, SchemaType } from './schema-registry.ts'

export interface RegistryLogin {
  readonly username: string
  readonly password: string
}

export interface RegistryLoginSource {
  current(): Promise<RegistryLogin>
  /** `refused` was not taken: what holds now, or null when that is the same still. */
  renewed(refused: RegistryLogin): Promise<RegistryLogin | null>
}

export interface HttpRegistryOptions {
  /** With its path, where it has one: `http://localhost:8080/apis/ccompat/v7`. */
  readonly url: string
  /** Basic authentication; an API key and its secret fit here. */
  readonly login?: RegistryLogin | RegistryLoginSource
  /** For one answer. Default 5,000. */
  readonly timeoutMs?: number
}

const TIMEOUT_MS = 5_000
const ATTEMPTS = 3
const PAUSE_MS = 150
const mediaType = 'application/vnd.schemaregistry.v1+json'
const schemaNotFound = 40403

/**
 * A schema registry that speaks Confluent's API: Confluent's own, Apicurio (`/apis/ccompat/v7`), Karapace, Redpanda.
 * Its certificate is checked against the system's authorities and those in NODE_EXTRA_CA_CERTS.
 * @throws RelayError CONFIG_INVALID for a URL that is none, or that holds a login: messages show it
 */
export function schemaRegistry(options: HttpRegistryOptions): SchemaRegistry {
  return new HttpRegistry(options)
}

interface Call {
  readonly path: string
  readonly body?: object
  readonly signal: AbortSignal
}

interface Answer {
  readonly status: number
  /** Null when it is not JSON. */
  readonly json: Readonly<Record<string, unknown>> | null
}

class HttpRegistry implements SchemaRegistry {
  readonly #url: string
  readonly #timeoutMs: number
  readonly #logins: RegistryLoginSource | null

  constructor({ url, login, timeoutMs = TIMEOUT_MS }: HttpRegistryOptions) {
    this.#url = addressOf(url)
    this.#timeoutMs = timeoutMs
    this.#logins = login === undefined ? null : 'current' in login ? login : fixedLogin(login)
  }

  async byId(id: number, signal: AbortSignal): Promise<SchemaText> {
    const answer = await this.#ask({ path: `/schemas/ids/${id}`, signal })
    if (answer.status === 404 && answer.json?.error_code === schemaNotFound)
      throw new RelayError(
        'SCHEMA_UNKNOWN',
        `${this.#url} has no schema ${id}; does the record come from another registry?`,
      )
    return this.#schemaIn(answer, `schema ${id}`)
  }

  async bySubject(subject: string, version: number | 'latest', signal: AbortSignal): Promise<RegisteredSchema> {
    const what = `version ${version} of subject '${subject}'`
    const answer = await this.#ask({ path: `/subjects/${encodeURIComponent(subject)}/versions/${version}`, signal })
    return { ...this.#schemaIn(answer, what), id: this.#idIn(answer, what) }
  }

  async find(subject: string, schema: SchemaText, signal: AbortSignal): Promise<number> {
    const path = `/subjects/${encodeURIComponent(subject)}`
    const answer = await this.#ask({ path, body: bodyOf(schema), signal })
    const hint = '; register it there, or let the codec do so with register: true'
    return this.#idIn(answer, `this schema in subject '${subject}'`, hint)
  }

  async register(subject: string, schema: SchemaText, signal: AbortSignal): Promise<number> {
    const path = `/subjects/${encodeURIComponent(subject)}/versions`
    return this.#idIn(await this.#ask({ path, body: bodyOf(schema), signal }), `registering in subject '${subject}'`)
  }

  #idIn(answer: Answer, what: string, hint = ''): number {
    const id = answer.status === 200 ? answer.json?.id : null
    if (typeof id === 'number') return id
    throw this.#refusal(answer, what, hint)
  }

  #schemaIn(answer: Answer, what: string): SchemaText {
    const { schema, schemaType = 'AVRO', references } = (answer.status === 200 && answer.json) || {}
    if (typeof schema === 'string' && isSchemaType(schemaType))
      return {
        type: schemaType,
        text: schema,
        references: Array.isArray(references) ? (references as SchemaReference[]) : [],
      }
    throw this.#refusal(answer, what)
  }

  /** An answer in the API's own words is its verdict; anything else is no answer of a registry. */
  #refusal({ status, json }: Answer, what: string, hint = ''): RelayError {
    const said = typeof json?.message === 'string' ? json.message : `HTTP ${status}`
    const isVerdict = json?.error_code !== undefined && [404, 409, 422].includes(status)
    if (isVerdict) return new RelayError('SCHEMA_REFUSED', `${this.#url} answers to ${what}: ${said}${hint}`)
    const message = `${this.#url} answers to ${what} with ${said}; is it the address of a schema registry's Confluent API?`
    return new RelayError('REGISTRY_UNAVAILABLE', message, { disposition: 'fix-config' })
  }

  /** Asks again when nothing came, when the registry is busy, and once with another login when it refuses this one. */
  async #ask(call: Call): Promise<Answer> {
    let login = (await this.#logins?.current()) ?? null
    for (let attempt = 1; ; attempt++) {
      const answer = await this.#send(call, login).catch((error) => this.#silence(error))
      if (!isRelayError(answer) && answer.status === 401 && login) {
        login = (await this.#logins?.renewed(login)) ?? null
        if (login) continue
      }
      const failure = isRelayError(answer) ? answer : this.#failureIn(answer)
      if (failure === null) return answer as Answer
      if (failure.disposition !== 'retry' || attempt >= ATTEMPTS) throw failure
      await systemClock.sleep(PAUSE_MS * attempt, call.signal)
    }
  }

  async #send({ path, body, signal }: Call, login: RegistryLogin | null): Promise<Answer> {
    const response = await fetch(this.#url + path, {
      signal: AbortSignal.any([signal, AbortSignal.timeout(this.#timeoutMs)]),
      headers: {
        accept: `${mediaType}, application/json`,
        ...(body && { 'content-type': mediaType }),
        ...(login && {
          authorization: `Basic ${Buffer.from(`${login.username}:${login.password}`).toString('base64')}`,
        }),
      },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    })
    return { status: response.status, json: objectIn(await response.text()) }
  }

  #silence(error: unknown): RelayError {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    return new RelayError('REGISTRY_UNAVAILABLE', `${this.#url} does not answer: ${messageOf(cause)}`, { cause: error })
  }

  #failureIn({ status, json }: Answer): RelayError | null {
    if (status === 401 || status === 403) {
      const message = `${this.#url} refuses the login (HTTP ${status}); check user name, password and rights`
      return new RelayError('REGISTRY_UNAVAILABLE', message, { disposition: 'fix-config' })
    }
    if (status < 500 && status !== 429) return null
    const said = typeof json?.message === 'string' ? `: ${json.message}` : ''
    return new RelayError('REGISTRY_UNAVAILABLE', `${this.#url} answers with HTTP ${status}${said}`)
  }
}

function addressOf(url: string): string {
  const parsed = URL.parse(url)
  if (parsed && parsed.username + parsed.password === '') return url.replace(/\/+$/, '')
  const found = parsed ? 'holds a login, which messages would show' : 'is none'
  const fix = 'give a login apart: `login`, or FENCEPOST_REGISTRY_USERNAME and FENCEPOST_REGISTRY_PASSWORD'
  throw new RelayError(
    'CONFIG_INVALID',
    `the URL of the schema registry ${found}; write it as https://host, and ${fix}`,
  )
}

const fixedLogin = (login: RegistryLogin): RegistryLoginSource => ({
  current: async () => login,
  renewed: async () => null,
})

const bodyOf = ({ type, text, references }: SchemaText) => ({ schemaType: type, schema: text, references })

const isSchemaType = (type: unknown): type is SchemaType => type === 'AVRO' || type === 'PROTOBUF' || type === 'JSON'

function objectIn(text: string): Answer['json'] {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}
