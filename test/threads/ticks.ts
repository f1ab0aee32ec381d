import { defineAgent } from '../../src/index.ts'
import { turns } from '../kit/wait.ts'

/** An agent that sends `count` events of `size` characters, and lets others run now and then. */
export const ticks = defineAgent({
  async run({ custom, input }) {
    const { count = 5, size = 10 } = input as { count?: number; size?: number }
    for (let n = 0; n < count; n++) {
      custom({ name: 'tick', payload: 'x'.repeat(size) })
      if (n % 100 === 0) await turns()
    }
  },
})
