/** The part of kafkajs 2.2.4 that `calm-kafkajs.ts` corrects. */
declare module 'kafkajs/src/network/requestQueue/index.js' {
  export default class RequestQueue {
    /** Milliseconds since the epoch; -1: never. */
    throttledUntil: number
    readonly pending: readonly unknown[]
    scheduleCheckPendingRequests(): void
  }
}
