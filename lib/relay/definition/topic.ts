import { bytes } from '../../codecs/bytes.ts'
import type { AnyCodec, BytesCodec } from '../../codecs/codec.ts'

/** A topic together with how its keys and values are read and written. Made by `topic()`. */
export interface Topic<Value extends AnyCodec = AnyCodec, Key extends AnyCodec = AnyCodec> {
  readonly name: string
  readonly value: Value
  readonly key: Key
}

/**
 * Names a topic and the codecs of its values and keys.
 *
 * ```ts
 * topic('flights', json(Flight))                        // keys stay bytes
 * topic('flights', json(Flight), { key: string() })     // record.key is a string or null
 * topic('flights.dead')                                 // bytes, as dead letters are
 * ```
 */
export function topic(name: string): Topic<BytesCodec, BytesCodec>
export function topic<Value extends AnyCodec>(name: string, value: Value): Topic<Value, BytesCodec>
export function topic<Value extends AnyCodec, Key extends AnyCodec>(
  name: string,
  value: Value,
  options: { readonly key: Key },
): Topic<Value, Key>
export function topic(name: string, value: AnyCodec = bytes(), options: { readonly key?: AnyCodec } = {}): Topic {
  return { name, value, key: options.key ?? bytes() }
}
