/**
 * How Lambda starts Node for a function of this memory: a tenth of it for young objects, in two halves, the rest for old
 * ones. Without the first bound V8 lets the young ones take more than a small function has.
 * Source: /var/runtime/bootstrap of Lambda's Node.js images.
 */
export function nodeFlags(memoryMb: number): readonly string[] {
  const youngMb = Math.floor(memoryMb / 10)
  return [`--max-semi-space-size=${Math.floor(youngMb / 2)}`, `--max-old-space-size=${memoryMb - youngMb}`]
}
