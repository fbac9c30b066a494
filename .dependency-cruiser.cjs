/** Which room may import from which; each rule says why. The map is docs/architecture.md. */
const stores = '-store\\.ts$'
module.exports = {
  forbidden: [
    {
      name: 'no-circular',
      comment: 'Data flows one way through the rooms; a cycle means that two files are one, or one file is two.',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'deployed-code-stays-clean',
      comment:
        'Whatever is bundled for a function must not reach the local stack, the CLI, preflight, the verifier, the testing kit or tests.',
      severity: 'error',
      from: { path: '^(functions|relays|lib/(lambda|relay|fencing|transaction|state|kafka|codecs|secrets))/' },
      to: { path: '^(lib/(local|cli|preflight|verify|testing)|infra|test|bench|scripts)/' },
    },
    {
      name: 'kafka-is-the-bottom',
      comment: 'The Kafka layer knows the protocol only; it must not know lanes, fences or relays.',
      severity: 'error',
      from: { path: '^lib/kafka/' },
      to: { path: '^lib/(lambda|relay|fencing|transaction|state|local|cli|verify|testing)/' },
    },
    {
      name: 'transaction-knows-only-kafka',
      comment: 'A session is judged by broker answers alone; who may open one is decided above it.',
      severity: 'error',
      from: { path: '^lib/transaction/' },
      to: { path: '^lib/(lambda|relay|fencing|state)/' },
    },
    {
      name: 'fencing-knows-no-kafka-io',
      comment: 'The fence record must stay usable when Kafka is down, and its rules testable without it.',
      severity: 'error',
      from: { path: '^lib/fencing/' },
      to: { path: '^lib/(lambda|relay|transaction|state|kafka)/' },
    },
    {
      name: 'relay-is-below-lambda',
      comment: 'The engine also runs as a worker and in tests; events and middleware stay outside it.',
      severity: 'error',
      from: { path: '^lib/relay/' },
      to: { path: '^lib/lambda/|^functions/' },
    },
    {
      name: 'aws-sdk-in-stores-only',
      comment: 'Each AWS SDK is paid for at cold start; only the store that needs it may load it.',
      severity: 'error',
      from: {
        path: '^(functions|lib/(lambda|relay|fencing|transaction|state|kafka|codecs|secrets))/',
        pathNot: stores,
      },
      to: { path: 'node_modules/@aws-sdk/' },
    },
    {
      name: 'optional-peers-stay-optional',
      comment:
        'Codecs that need a package of their own are imported by those who use them: others need not install it.',
      severity: 'error',
      from: { path: '^(lib/index\\.ts|functions/)' },
      to: { path: 'node_modules/(avsc|ajv|protobufjs)/', reachable: true },
    },
    {
      name: 'kafkajs-in-one-place',
      comment:
        "kafkajs's producer and consumer lose or duplicate under faults; only its connections and admin are used, behind lib/kafka.",
      severity: 'error',
      from: { path: '^(functions|relays|lib/(lambda|relay|fencing|transaction|state|codecs|verify))/' },
      to: { path: 'node_modules/kafkajs/' },
    },
    {
      name: 'no-test-helpers-in-products',
      comment: 'A helper that only tests use must not reach a user.',
      severity: 'error',
      from: { path: '^(lib|functions|relays|infra)/' },
      to: { path: '^(test|bench)/' },
    },
    {
      name: 'no-unresolvable',
      comment: 'An import that does not resolve here does not resolve for a user.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'types', 'default'],
    },
  },
}
