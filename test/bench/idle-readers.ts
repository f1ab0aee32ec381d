import type { Reader } from './support/reader.ts'
import { type Bench, least, type Row, runAlone, times } from './support/report.ts'
import { ALL, newThread, openReaders, startRun } from './support/run.ts'
import { type Server, withServers } from './support/server.ts'

/**
 * Measures what each of 10,000 readers of one process takes while nothing happens, and what an event costs that reaches all of
 * them, beside 500. Each reader is a socket, so both processes need 10,000 of them: see `ulimit -n`.
 */

const FEW = 500
const MANY = 10_000
const EVENTS = 20
const ROUNDS = 3
const TARGET_KIB = 25
/** CPU times of a busy machine are not the same twice. */
const TARGET_RATIO = 1.1

const open = (server: Server, threadId: string, count: number): Promise<Reader[]> =>
  openReaders(server, threadId, count, { filter: ALL })

/** Microseconds of CPU time for each event that reached a reader: a burst, or one event in each turn of the event loop. */
async function delivered(
  server: Server,
  threadId: string,
  readers: readonly Reader[],
  turns: boolean,
): Promise<number> {
  const cost: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const expected = readers.map((reader) => reader.received(reader.count() + EVENTS + 2))
    const before = await server.cpu()
    await startRun(server, threadId, 'burst', { events: EVENTS, size: 20, turns })
    await Promise.all(expected)
    cost.push(((await server.cpu()) - before) / readers.length / EVENTS)
  }
  return least(cost)
}

async function measure(server: Server, count: number) {
  const threadId = newThread()
  const before = await server.memory()
  const readers = await open(server, threadId, count)
  const after = await server.memory()
  const kib = (after.rss - before.rss) / count / 1_024
  const heldKib = (after.held - before.held) / count / 1_024
  const burst = await delivered(server, threadId, readers, false)
  const apart = await delivered(server, threadId, readers, true)
  for (const reader of readers) reader.close()
  return { kib, heldKib, burst, apart }
}

export const idleReaders: Bench = () =>
  withServers(['ours'], async (server) => {
    // Code is compiled, and buffers grow, in a round that does not count.
    await measure(server, FEW)
    const few = await measure(server, FEW)
    const many = await measure(server, MANY)
    const memory = (bench: string, own: number, target?: number): Row => ({
      bench,
      ours: `${own.toFixed(1)} KiB`,
      peer: '',
      ratio: '',
      target: target === undefined ? '' : `<= ${target} KiB`,
      ...(target !== undefined && { met: own <= target }),
    })
    const event = (bench: string, own: number, peer: number, target?: number): Row => ({
      bench,
      ours: `${own.toFixed(2)} us`,
      peer: `${peer.toFixed(2)} us`,
      ratio: times(own / peer),
      target: target === undefined ? '' : `<= ${times(target)}`,
      ...(target !== undefined && { met: own / peer <= target }),
    })
    const readers = `${MANY.toLocaleString('en')} readers`
    return [
      memory(`an idle one of ${readers}: resident memory`, many.kib, TARGET_KIB),
      memory('the same: heap and what it holds', many.heldKib),
      event(
        `a burst of ${EVENTS} events to ${readers}, each event, vs to ${FEW}`,
        many.burst,
        few.burst,
        TARGET_RATIO,
      ),
      event('the same, one event a turn', many.apart, few.apart),
    ]
  })

await runAlone(import.meta.url, idleReaders)
