/** What Fencepost uses of the Serverless CLI's plugin interface (osls 4; the same in Serverless 3). */
export interface Serverless {
  readonly serviceDir: string
  readonly service: {
    readonly service: string
    readonly custom?: Readonly<Record<string, unknown>>
    functions: Record<string, unknown>
    resources?: Record<string, unknown>
    package: Record<string, unknown>
    readonly provider: Record<string, unknown>
  }
  getProvider(name: 'aws'): { getStage(): string }
}

export interface CliOptions {
  /** Of `deploy function`. */
  readonly function?: string
}

export interface PluginUtils {
  readonly log: { warning(line: string): void }
}

export type Hooks = Readonly<Record<string, () => Promise<void>>>
