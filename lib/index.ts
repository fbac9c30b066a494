/** The public API: what a relay's author imports from 'fencepost'. */

export { bytes } from './codecs/bytes.ts'
export {
  type BytesCodec,
  type Codec,
  type CodecPlace,
  type NullableCodec,
  type OpenedCodec,
  ValidationError,
} from './codecs/codec.ts'
export { json } from './codecs/json.ts'
export { nullable } from './codecs/nullable.ts'
export { type HttpRegistryOptions, type RegistryLogin, schemaRegistry } from './codecs/registry/http-registry.ts'
export type {
  RegisteredSchema,
  SchemaReference,
  SchemaRegistry,
  SchemaText,
  SchemaType,
} from './codecs/registry/schema-registry.ts'
export { string } from './codecs/string.ts'
export { type Disposition, type ErrorCode, isRelayError, type Outcome, RelayError } from './errors.ts'
export type { Header } from './kafka/record.ts'
export { defineRelay } from './relay/definition/define-relay.ts'
export type {
  Emit,
  EmitOptions,
  HeadersToEmit,
  Outputs,
  WindowEmit,
  WindowEmitOptions,
} from './relay/definition/emit.ts'
export type {
  AsyncSettings,
  OnError,
  RecordOf,
  Relay,
  RelayDefinition,
  SetupContext,
  TransformContext,
  WindowSettings,
  WindowTransformContext,
} from './relay/definition/relay-definition.ts'
export type { RawRecord, RecordPlace, RelayRecord } from './relay/definition/relay-record.ts'
export { retryWindow } from './relay/definition/retry-window.ts'
export { type Topic, topic } from './relay/definition/topic.ts'
export { days, hours, kibibytes, mebibytes, minutes, seconds } from './units.ts'
