import { type Bench, least, median, runAlone, takeTurns, times } from './support/report.ts'
import { ALL, newThread, openReaders, startRun } from './support/run.ts'
import { type Server, withServers } from './support/server.ts'

/** Measures what a stalled reader does to 49 others and to the server's memory. */

const OTHERS = 49
/** These are more bytes than the kernel buffers for a stalled reader. */
const EVENTS = 8_000
const SIZE = 1_000
const TARGET = 1.05
const BATCH = 64 * 1_024

interface Stall {
  /** The most bytes that waited for the stalled reader in the process. */
  waiting: number
  /** The memory that was free again after the stalled reader had left, round by round. */
  readonly held: number[]
}

/** Milliseconds from the start of the run to the last event of the median reader. */
const delivery = (server: Server, stall?: Stall) => async () => {
  const threadId = newThread()
  const readers = await openReaders(server, threadId, OTHERS, { filter: ALL, gapless: true })
  const stalled = stall ? await openReaders(server, threadId, 1, { filter: ALL }) : []
  for (const reader of stalled) reader.pause()
  // This collects garbage, so that each round begins alike.
  await server.memory()
  const began = performance.now()
  await startRun(server, threadId, 'burst', { events: EVENTS, size: SIZE })
  await Promise.all(readers.map((reader) => reader.received(EVENTS + 2)))
  const took = median(readers.map((reader) => reader.lastAt() - began))
  for (const reader of readers) reader.close()
  if (stall) {
    stall.waiting = Math.max(stall.waiting, await server.call<number>('waiting'))
    const before = await server.memory()
    for (const reader of stalled) reader.close()
    stall.held.push(before.held - (await server.memory()).held)
  }
  return took
}

export const stalledReader: Bench = () =>
  withServers(['ours'], async (server) => {
    const stall = { waiting: 0, held: [] as number[] }
    const took = await takeTurns(7, { stalled: delivery(server, stall), control: delivery(server) })
    const held = median(stall.held)
    const ratio = least(took.stalled) / least(took.control)
    return [
      {
        bench: '49 readers beside one that stalls, vs 49 alone',
        ours: `${least(took.stalled).toFixed(0)} ms`,
        peer: `${least(took.control).toFixed(0)} ms`,
        ratio: times(ratio),
        target: `<= ${times(TARGET)}`,
        met: ratio <= TARGET,
      },
      {
        bench: 'bytes waiting for the stalled reader',
        ours: `${(stall.waiting / 1_024).toFixed(0)} KiB`,
        peer: `of ${((EVENTS * SIZE) / 1_024).toFixed(0)} KiB`,
        ratio: '',
        target: 'one batch, 64 KiB',
        // The bytes are the batch and the lines that HTTP adds around it.
        met: stall.waiting <= BATCH + 1_024,
      },
      {
        bench: 'memory that the stalled reader holds',
        ours: `${(held / 1_024).toFixed(0)} KiB`,
        peer: '',
        ratio: '',
        target: '<= 256 KiB',
        met: held <= 256 * 1_024,
      },
    ]
  })

await runAlone(import.meta.url, stalledReader)
