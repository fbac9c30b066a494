/** A function entry for the bundler: a CommonJS package, which calls `require` inside, and TypeScript. */
import { Kafka } from 'kafkajs'

export const handler = async (...args: readonly unknown[]): Promise<object> => ({
  kafkajs: typeof Kafka,
  args: args.length + 1,
})
