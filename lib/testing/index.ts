/** The testing kit: what a relay's author imports from 'fencepost/testing'. */

export { memoryRegistry, type SubjectSchema } from './memory-registry.ts'
export type { DeadLetter, DeadLetterView, OutputRecordView, OutputView } from './output-log.ts'
export type { RelayUnderTest, TestRelayOptions } from './relay-under-test.ts'
export type { TestRecord } from './source-writer.ts'
export type { CrashPoint } from './test-container.ts'
export { testRelay } from './test-relay.ts'
