import { type BillPart, billParts, type PriceName, prices } from './prices.ts'

/** How much of each priced thing a month takes. */
export type Usage = Readonly<Partial<Record<PriceName, number>>>

export interface BillItem {
  readonly price: PriceName
  readonly part: BillPart
  readonly quantity: number
  readonly per: string
  readonly usd: number
}

export interface Bill {
  readonly usd: number
  readonly parts: Readonly<Record<BillPart, number>>
  readonly items: readonly BillItem[]
}

export function sumOf(...usages: readonly Usage[]): Usage {
  const total: Partial<Record<PriceName, number>> = {}
  for (const usage of usages)
    for (const [name, quantity] of quantities(usage)) total[name] = (total[name] ?? 0) + quantity
  return total
}

/** Every item is of one part; parts and items add up to the same sum. */
export function billFor(usage: Usage): Bill {
  const items = quantities(usage).map(([price, quantity]): BillItem => {
    const { usd, per, part } = prices[price]
    return { price, part, quantity, per, usd: quantity * usd }
  })
  const sum = (some: readonly BillItem[]) => some.reduce((total, { usd }) => total + usd, 0)
  const parts = Object.fromEntries(billParts.map((part) => [part, sum(items.filter((item) => item.part === part))]))
  return { usd: sum(items), parts: parts as Record<BillPart, number>, items }
}

const quantities = (usage: Usage): [PriceName, number][] => Object.entries(usage) as [PriceName, number][]
