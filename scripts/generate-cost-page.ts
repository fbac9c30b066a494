/** `npm run generate:cost`: writes docs/operations/cost.md anew. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { costPage } from './cost-page.ts'

await writeFile(join(import.meta.dirname, '..', 'docs', 'operations', 'cost.md'), costPage())
