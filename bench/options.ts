import { InvalidArgumentError } from 'commander'

/** For an option that counts something. */
export const countFrom =
  (min: number, max: number) =>
  (text: string): number => {
    const count = Number(text.replaceAll(/[,_]/g, ''))
    if (Number.isInteger(count) && count >= min && count <= max) return count
    const range = `${min.toLocaleString('en')} to ${max.toLocaleString('en')}`
    throw new InvalidArgumentError(`"${text}" is not a whole number from ${range}.`)
  }
