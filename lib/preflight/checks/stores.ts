import type { BucketFacts, Facts, TableFacts } from '../facts/facts.ts'
import { type Finding, fail, holds, ok, type Subject, type Told, unknown, warn } from '../finding.ts'

/** The fence table, and the snapshot bucket where there is one. */
export function storeChecks(facts: Facts): readonly Finding[] {
  return [...tableChecks(facts), ...bucketChecks(facts)]
}

const keyWanted = 'id (S)'

function tableChecks({ table, localStores }: Facts): readonly Finding[] {
  const there: Subject = { id: 'table.exists', about: 'table', what: 'fence table', wanted: 'a table that serves' }
  if (!table.told) return [fail(there, table.why, 'deploy it, or correct FENCEPOST_TABLE, the region or the role')]
  const { name, key, status } = table.value
  const keySubject: Subject = { id: 'table.key', about: 'table', what: 'key', wanted: `${keyWanted} and nothing else` }
  return [
    holds(status === 'ACTIVE' || status === 'UPDATING', fail, there, `${name}, ${status}`, 'wait until it is ACTIVE'),
    holds(key === keyWanted, fail, keySubject, key, 'make a table whose only key is id, a string'),
    ...(localStores ? [] : safety(table.value)),
  ]
}

/** Kafka has the truth; the table remembers attempts, and positions for the day Kafka forgets them. */
function safety({ billing, restorable, deletionProtected }: TableFacts): readonly Finding[] {
  return [
    judged(
      { id: 'table.billing', about: 'table', what: 'billing', wanted: 'PAY_PER_REQUEST: bells come in bursts' },
      billing,
      (mode) => mode === 'PAY_PER_REQUEST',
      'make the table on-demand, or give it capacity for two writes per lane and bell',
    ),
    judged(
      { id: 'table.recovery', about: 'table', what: 'point-in-time recovery', wanted: 'true' },
      restorable,
      Boolean,
      'aws dynamodb update-continuous-backups --point-in-time-recovery-specification PointInTimeRecoveryEnabled=true',
    ),
    judged(
      { id: 'table.protection', about: 'table', what: 'deletion protection', wanted: 'true' },
      deletionProtected,
      Boolean,
      'aws dynamodb update-table --deletion-protection-enabled',
    ),
  ]
}

function bucketChecks({ bucket, localStores }: Facts): readonly Finding[] {
  if (bucket === null) return []
  const there: Subject = { id: 'bucket.exists', about: 'bucket', what: 'snapshot bucket', wanted: 'a bucket to use' }
  if (!bucket.told) return [fail(there, bucket.why, 'deploy it, or correct its name, the region or the role')]
  return [ok(there, bucket.value.name), ...(localStores ? [] : [versioning(bucket.value)])]
}

const versioning = ({ name, versioned }: BucketFacts): Finding =>
  judged(
    { id: 'bucket.versioning', about: 'bucket', what: 'versioning', wanted: 'true' },
    versioned,
    Boolean,
    `aws s3api put-bucket-versioning --bucket ${name} --versioning-configuration Status=Enabled`,
  )

function judged<T>(subject: Subject, told: Told<T>, isFine: (value: T) => boolean, fix: string): Finding {
  return told.told ? holds(isFine(told.value), warn, subject, String(told.value), fix) : unknown(subject, told.why)
}
