import { openReader, type Reader } from './support/reader.ts'
import { type Bench, type Row, runAlone, times } from './support/report.ts'
import { ALL, newThread, openReaders, startRun } from './support/run.ts'
import { type Server, withServers } from './support/server.ts'

/** A thousand subscribers: what one costs while nothing happens, and a burst that must reach every one whole. */

const READERS = 1_000
/** Stay open, so that what the process needs once is there and nothing can be used again. */
const BEFORE = 500
const EVENTS = 200
const TARGET_KIB = 25

/** KiB of resident memory for each of a thousand readers more. */
async function idleCost(server: Server, open: (count: number) => Promise<Reader[]>) {
  const first = await open(BEFORE)
  const before = await server.memory()
  const more = await open(READERS)
  const after = await server.memory()
  return { kib: (after.rss - before.rss) / READERS / 1_024, readers: [...first, ...more] }
}

export const subscribers: Bench = () =>
  withServers(['ours', 'bare'], async (ours, bare) => {
    const threadId = newThread()
    const own = await idleCost(ours, (count) =>
      openReaders(ours, threadId, count, { filter: ALL, gapless: true }),
    )
    const peer = await idleCost(bare, (count) =>
      Promise.all(Array.from({ length: count }, () => openReader({ port: bare.port, path: '/' }))),
    )
    const idle: Row = {
      bench: 'an idle subscriber, vs an idle response of node:http',
      ours: `${own.kib.toFixed(1)} KiB`,
      peer: `${peer.kib.toFixed(1)} KiB`,
      ratio: times(own.kib / peer.kib),
      target: `<= ${TARGET_KIB} KiB`,
      met: own.kib <= TARGET_KIB,
    }
    for (const reader of peer.readers) reader.close()

    await startRun(ours, threadId, 'burst', { events: EVENTS, size: 20 })
    // Each reader fails when an event is lost, doubled or out of order.
    await Promise.all(own.readers.map((reader) => reader.received(EVENTS + 2)))
    const whole = own.readers.filter((reader) => reader.count() === EVENTS + 2).length
    for (const reader of own.readers) reader.close()
    return [
      idle,
      {
        bench: 'subscribers that got a burst of 202 events whole',
        ours: `${whole}`,
        peer: `of ${own.readers.length}`,
        ratio: '',
        target: 'all',
        met: whole === own.readers.length,
      },
    ]
  })

await runAlone(import.meta.url, subscribers)
