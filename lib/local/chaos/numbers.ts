/** The records of the load: each has a number of its own, counted up in its source partition. */
export interface Numbered {
  /** Of the source. */
  readonly partition: number
  /** From 0. */
  readonly number: number
}

/** Where the verifier finds the id of a record. */
export const idPlace = { in: 'value', path: ['id'] } as const

const padding = 'x'.repeat(120)

export const idOf = ({ partition, number }: Numbered): string => `${partition}-${number}`

const textOf = (record: Numbered): string => JSON.stringify({ id: idOf(record), padding })

export const numberedValue = (record: Numbered): Buffer => Buffer.from(textOf(record))

/** Null for a text that is no value of the load, to the last byte. */
export function numberedIn(text: string): Numbered | null {
  const [, partition, number] = /^\{"id":"(\d+)-(\d+)"/.exec(text) ?? []
  const record = { partition: Number(partition), number: Number(number) }
  return text === textOf(record) ? record : null
}
