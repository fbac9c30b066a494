/** Durations in milliseconds and sizes in bytes, so that a setting reads as it is spoken: `commitEveryMs: seconds(1)`. */
export const seconds = (count: number): number => count * 1_000
export const minutes = (count: number): number => seconds(count * 60)
export const hours = (count: number): number => minutes(count * 60)
export const days = (count: number): number => hours(count * 24)

export const kibibytes = (count: number): number => count * 1_024
export const mebibytes = (count: number): number => kibibytes(count * 1_024)
