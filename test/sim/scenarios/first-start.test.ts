import { describe, expect, it } from 'vitest'
import { perform } from './stage.ts'

describe.each([1, 2] as const)('S1: a lane that dies while it starts, protocol %i', (protocol) => {
  it('begins anew at whatever await it dies, and never takes its own beginning for lost offsets', async () => {
    let at = 0
    for (let hasDied = true; hasDied; ) {
      at++
      hasDied = false
      let steps = 0
      await perform({ protocol }, async (stage) => {
        stage.write(3)
        const first = await stage.container()
        stage.world.script = {
          step(process) {
            if (process !== first.process || ++steps !== at) return
            process.die()
            hasDied = true
          },
        }
        await stage.ring(first, stage.event())
      })
    }
    expect(at).toBeGreaterThan(30)
  }, 60_000)

  it('begins anew when two in a row die, one step apart', async () => {
    let at = 0
    for (let deaths = 2; deaths === 2; ) {
      at += 3
      deaths = 0
      await perform({ protocol }, async (stage) => {
        stage.write(3)
        for (const offset of [0, 1]) {
          const container = await stage.container()
          let steps = 0
          stage.world.script = {
            step(process) {
              if (process !== container.process || ++steps !== at + offset) return
              process.die()
              deaths++
            },
          }
          await stage.ring(container, stage.event())
          await stage.sleep(12_000)
        }
      })
    }
    expect(at).toBeGreaterThan(10)
  }, 60_000)
})
