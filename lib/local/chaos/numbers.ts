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

export const numberedValue = (record: Numbered): Buffer => Buffer.from(JSON.stringify({ id: idOf(record), padding }))

/** Null for a text that is no value of the load. */
export function numberedIn(text: string): Numbered | null {
  const [, partition, number] = /^\{"id":"(\d+)-(\d+)"/.exec(text) ?? []
  return partition === undefined || number === undefined
    ? null
    : { partition: Number(partition), number: Number(number) }
}
