/** Every kind of fault, for options and help; those that strike the relay's own processes come first. */
export const functionFaults = [
  'kill-function',
  'pause-function',
  'function-timeout',
  'overlap',
  'duplicate-bells',
  'rebalance',
] as const

export const surroundingFaults = [
  'kill-broker',
  'pause-broker',
  'half-open',
  'delay',
  'late-copies',
  'lost-reply',
  'random-aborts',
  'dynamodb-down',
  'dynamodb-slow',
  'dynamodb-lost-reply',
] as const

export const faultNames: readonly string[] = [...functionFaults, ...surroundingFaults]
