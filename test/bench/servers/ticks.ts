import type { Agent } from '../../../src/index.ts'
import { sharedNow, unevenPause } from '../support/clock.ts'
import { burst } from './agents.ts'
import { customEvent } from './events.ts'

/** The input of an agent whose events come one by one, as a model's tokens do. */
export interface Ticks {
  readonly events: number
  /** The pause between them, which is up to half as long again. */
  readonly pauseMs: number
}

let times: number[] = []

/** When each event of the newest run was made, by `sharedNow`. */
export const tickTimes = (): readonly number[] => times

export const ticks: Agent = {
  ...burst,
  async *stream({ start }) {
    const { events, pauseMs } = (start.kind === 'input' ? start.value : {}) as Ticks
    times = []
    for (let i = 0; i < events; i++) {
      await unevenPause(pauseMs)
      times.push(sharedNow())
      yield customEvent(20)
    }
  },
}
