import type { ServiceNames } from './names.ts'

export const readme = ({ service, relay }: ServiceNames): string => `# ${service}

An exactly-once Kafka relay on [Fencepost](node_modules/fencepost/README.md), deployed as functions to AWS.

| | |
|---|---|
| \`relays/${relay}.ts\` | the relay: what comes in, what goes out |
| \`test/${relay}.test.ts\` | its test: the real engine in memory, crashes included |
| \`serverless.yml\` | where it is deployed, and how soon records must be through |

\`\`\`
npm test                                                   # types and tests; no broker is needed
npm run dev                                                # Kafka and the relay as a function on this machine (Java 17, Maven)
npx fencepost cost --records-per-second 50                 # what a month would cost, trigger by trigger
npx serverless package                                     # what would be deployed, without an account
npx fencepost preflight --relay relays/${relay}.ts --help  # what is wrong with a cluster, before it is deployed
npx serverless deploy --stage dev
\`\`\`

**Consumers of the outputs must read \`read_committed\`**, which is not every client's default. What is promised, and what is
not: [guarantees](node_modules/fencepost/docs/guarantees.md). Once it runs: [operations](node_modules/fencepost/docs/operations/README.md).
`
