import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { unzipSync } from 'fflate'
import { mebibytes } from '../../lib/units.ts'
import type { Deployed, FunctionFacts, TemplateResource, Tree } from '../helpers/template/deployed.ts'

/** Where `serverless package` and `deploy` write, in the folder of a service. */
export const packageDir = (service: string): string => join(service, '.serverless')

export const templateFile = (dir: string): string => join(dir, 'cloudformation-template-update-stack.json')

/** What was packaged into `dir`. */
export async function packagedTemplate(dir: string): Promise<Deployed> {
  const { Resources } = JSON.parse(await readFile(templateFile(dir), 'utf8')) as {
    readonly Resources: Readonly<Record<string, TemplateResource>>
  }
  const functions = Object.entries(Resources).filter(([, { Type }]) => Type === 'AWS::Lambda::Function')
  return {
    resources: Resources,
    functions: functions.map(([id, { Properties }]) => ({
      ...factsOf(Properties),
      schedule: scheduleOf(id, Resources),
    })),
  }
}

/** The rule that names the function, and what is said of its invocations. */
function scheduleOf(id: string, resources: Readonly<Record<string, TemplateResource>>): FunctionFacts['schedule'] {
  const naming = (type: string) =>
    Object.values(resources).find(
      ({ Type, Properties }) => Type === type && JSON.stringify(Properties).includes(`"${id}"`),
    )
  if (!naming('AWS::Events::Rule')) return null
  return { retries: naming('AWS::Lambda::EventInvokeConfig')?.Properties.MaximumRetryAttempts }
}

function factsOf(its: Tree): Omit<FunctionFacts, 'schedule'> {
  const code = its.Code as Tree
  const architectures = its.Architectures as readonly string[] | undefined
  return {
    key:
      String(code.S3Key)
        .split('/')
        .at(-1)
        ?.replace(/\.zip$/, '') ?? '',
    runtime: its.Runtime,
    architecture: architectures?.join(),
    handler: its.Handler,
    timeoutSeconds: Number(its.Timeout),
    role: its.Role,
    environment: (its.Environment as { readonly Variables: Tree }).Variables,
  }
}

export interface Artifact {
  readonly name: string
  readonly bytes: number
  readonly files: Readonly<Record<string, Uint8Array>>
}

export async function artifacts(dir: string): Promise<readonly Artifact[]> {
  const names = (await readdir(dir)).filter((name) => name.endsWith('.zip'))
  return Promise.all(
    names.map(async (name) => {
      const zip = await readFile(join(dir, name))
      return { name, bytes: zip.length, files: unzipSync(zip) }
    }),
  )
}

const magic = [
  [0x7f, 0x45, 0x4c, 0x46],
  [0xcf, 0xfa, 0xed, 0xfe],
  [0x4d, 0x5a],
] as const
const isNative = (content: Uint8Array): boolean =>
  magic.some((bytes) => bytes.every((byte, at) => content[at] === byte))

/** What is wrong with the zips: too large, no handler, not modules only, or a program for one processor only. */
export function artifactFaults(all: readonly Artifact[]): readonly string[] {
  return all.flatMap(({ name, bytes, files }) => [
    ...(bytes > mebibytes(1) ? [`${name} has ${bytes} bytes`] : []),
    ...(files['index.mjs'] ? [] : [`${name} holds no index.mjs`]),
    ...Object.keys(files).flatMap((path) => (path.endsWith('.mjs') ? [] : [`${name} holds ${path}`])),
    ...(Object.values(files).some(isNative) ? [`${name} holds a native program`] : []),
  ])
}
