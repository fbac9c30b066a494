import type { ServiceNames } from './names.ts'
import { readme } from './readme.ts'
import { relayModule, relayTest } from './relay-module.ts'
import { serverlessYml } from './serverless-yml.ts'

export interface ServiceOptions extends ServiceNames {
  /** What package.json says for `fencepost`: an exact version, or a packed file. */
  readonly fencepost: string
  /** Versions that Fencepost itself is tested with, by package. */
  readonly tested: Readonly<Record<string, string>>
}

/** All files of a new service by path. Pure: what is written, and where, is up to the caller. */
export function serviceFiles(options: ServiceOptions): ReadonlyMap<string, string> {
  const { relay } = options
  return new Map([
    ['package.json', jsonFile(manifest(options))],
    ['tsconfig.json', jsonFile(tsconfig)],
    [`relays/${relay}.ts`, relayModule(relay)],
    [`test/${relay}.test.ts`, relayTest(relay)],
    ['serverless.yml', serverlessYml(options)],
    ['README.md', readme(options)],
    ['.gitignore', 'node_modules/\n.fencepost/\n.serverless/\n'],
  ])
}

const jsonFile = (content: unknown): string => `${JSON.stringify(content, null, 2)}\n`

const tools = ['@types/node', 'serverless', 'typescript', 'vitest'] as const

function manifest({ service, relay, fencepost, tested }: ServiceOptions) {
  const versionOf = (name: string) => [name, tested[name] ?? '*']
  return {
    name: service,
    version: '0.1.0',
    private: true,
    type: 'module',
    engines: { node: '>=24' },
    scripts: {
      test: 'tsc && vitest run',
      dev: `fencepost dev --relay relays/${relay}.ts --create-topics`,
      package: 'serverless package',
      deploy: 'serverless deploy',
    },
    dependencies: { fencepost, ...Object.fromEntries([versionOf('valibot')]) },
    devDependencies: Object.fromEntries(tools.map(versionOf)),
  }
}

/** Node runs the relays as they are: it strips types and nothing else. */
const tsconfig = {
  compilerOptions: {
    target: 'es2024',
    lib: ['es2024'],
    module: 'nodenext',
    types: ['node'],
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    verbatimModuleSyntax: true,
    erasableSyntaxOnly: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    noEmit: true,
  },
  include: ['relays', 'test'],
}
