export type Tree = { readonly [name: string]: unknown }

export interface TemplateResource {
  readonly Type: string
  readonly Properties: Tree
  readonly DeletionPolicy?: string
}

/** A function as the template has it, whoever compiled it. */
export interface FunctionFacts {
  readonly key: string
  readonly runtime: unknown
  readonly architecture: unknown
  readonly handler: unknown
  readonly timeoutSeconds: number
  readonly role: unknown
  readonly environment: Tree
  /** Rung by a schedule, and how often an invocation that failed is repeated. */
  readonly schedule: { readonly retries: unknown } | null
}

export interface Deployed {
  readonly resources: Readonly<Record<string, TemplateResource>>
  readonly functions: readonly FunctionFacts[]
}

/** `faults` is empty where all is well. */
export interface Assertion {
  readonly says: string
  faults(deployed: Deployed): readonly string[]
}

export type Entry = readonly [id: string, its: TemplateResource]

export const ofType = ({ resources }: Deployed, type: string): Entry[] =>
  Object.entries(resources).filter(([, { Type }]) => Type === type)

/** The ids of those for which it does not hold. */
export const unless = (entries: readonly Entry[], holds: (its: TemplateResource) => boolean): string[] =>
  entries.filter(([, its]) => !holds(its)).map(([id]) => id)

export const at = (tree: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>((value, name) => (value as Tree | undefined)?.[name], tree)

export const repeated = (values: readonly unknown[]): string[] =>
  values.filter((value, index) => values.indexOf(value) !== index).map(String)
