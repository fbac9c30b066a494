/**
 * Tests write and read with kafkajs as a stranger would. Its request queue sets a timer for when throttling ends, and while
 * nothing is throttled that lies in 1969: since Node 24 each process that uses it prints a TimeoutNegativeWarning. Node waits
 * 1 ms then; here the queue asks for that itself, so that a warning in the output of tests means something.
 */
import RequestQueue from 'kafkajs/src/network/requestQueue/index.js'

const schedule = RequestQueue.prototype.scheduleCheckPendingRequests

RequestQueue.prototype.scheduleCheckPendingRequests = function (this: RequestQueue) {
  const { throttledUntil, pending } = this
  if (pending.length === 0) this.throttledUntil = Math.max(throttledUntil, Date.now() + 1)
  schedule.call(this)
  this.throttledUntil = throttledUntil
}
