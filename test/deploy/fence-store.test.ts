/** Run by `npm run test:deploy`, on the fence table as CloudFormation has made it. */
import { systemClock } from '../../lib/clock.ts'
import { createDynamoDbFenceStore } from '../../lib/fencing/dynamodb-fence-store.ts'
import { fenceStoreContract } from '../contract/fence-store.contract.ts'

const { DEPLOYED_TABLE: table = '', DEPLOYED_ENDPOINT: endpoint = '', AWS_REGION: region = '' } = process.env

/** moto answers one request at a time, and each takes it as long as ten take DynamoDB. */
const requestTimeoutMs = 15_000

fenceStoreContract('The DynamoDB store on a table that was deployed', async () =>
  createDynamoDbFenceStore({ table, endpoint, region, requestTimeoutMs }, systemClock),
)
