/** A process that starts a broker, prints its pid and waits to be killed. */
import { startKafka } from '../../lib/local/kafka.ts'

const kafka = await startKafka({ version: '4.1', dataDir: process.argv[2] ?? '' })
console.log(kafka.nodes[0]?.pid)
setInterval(() => undefined, 60_000)
