import { createMemoryFenceStore } from '../../lib/fencing/memory-fence-store.ts'
import { fenceStoreContract } from './fence-store.contract.ts'

fenceStoreContract('The memory store', async () => createMemoryFenceStore())
