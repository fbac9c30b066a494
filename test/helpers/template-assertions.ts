/** What must be true of every deployment's template, above all what emulators of AWS do not look at. */
import type { Assertion } from './template/deployed.ts'
import { functionAssertions } from './template/functions.ts'
import { mappingAssertions } from './template/mappings.ts'
import { permissionAssertions } from './template/permissions.ts'
import { storeAssertions } from './template/stores.ts'
import { watchAssertions } from './template/watch.ts'

/** In the order in which a template is read. */
export const templateAssertions: readonly Assertion[] = [
  ...mappingAssertions,
  ...functionAssertions,
  ...storeAssertions,
  ...permissionAssertions,
  ...watchAssertions,
]
