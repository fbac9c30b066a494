/** Whatever can be awaited, from whatever library or realm: `instanceof Promise` would pass over some of them. */
export const isPromiseLike = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
