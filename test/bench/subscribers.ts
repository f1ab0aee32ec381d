import { openReader, type Reader } from './support/reader.ts'
import { type Bench, type Row, runAlone, times } from './support/report.ts'
import { ALL, newThread, openReaders, startRun } from './support/run.ts'
import { type Server, withServers } from './support/server.ts'

/** Measures what one of a thousand subscribers costs while nothing happens, and a burst that must reach every one whole. */

const READERS = 1_000
const EVENTS = 200
const TARGET_KIB = 25

interface Idle {
  /** KiB of resident memory for each of the first thousand readers of a fresh process, with its one-time growth. */
  readonly first: number
  /** The same for each of a second thousand. */
  readonly second: number
  readonly readers: readonly Reader[]
}

async function idle(server: Server, open: () => Promise<Reader[]>): Promise<Idle> {
  const none = await server.memory()
  const first = await open()
  const some = await server.memory()
  const second = await open()
  const all = await server.memory()
  return { first: kib(some.rss - none.rss), second: kib(all.rss - some.rss), readers: [...first, ...second] }
}

const kib = (bytes: number): number => bytes / READERS / 1_024

function row(bench: string, own: number, peer: number, target?: number): Row {
  return {
    bench,
    ours: `${own.toFixed(1)} KiB`,
    peer: `${peer.toFixed(1)} KiB`,
    ratio: times(own / peer),
    target: target === undefined ? '' : `<= ${target} KiB`,
    ...(target !== undefined && { met: own <= target }),
  }
}

export const subscribers: Bench = () =>
  withServers(['ours', 'bare'], async (ours, bare) => {
    const threadId = newThread()
    const own = await idle(ours, () => openReaders(ours, threadId, READERS, { filter: ALL, gapless: true }))
    const peer = await idle(bare, () =>
      Promise.all(Array.from({ length: READERS }, () => openReader({ port: bare.port, path: '/' }))),
    )
    for (const reader of peer.readers) reader.close()

    await startRun(ours, threadId, 'burst', { events: EVENTS, size: 20 })
    // Each reader fails when an event is lost, doubled or out of order.
    await Promise.all(own.readers.map((reader) => reader.received(EVENTS + 2)))
    const whole = own.readers.filter((reader) => reader.count() === EVENTS + 2).length
    for (const reader of own.readers) reader.close()
    return [
      row('an idle subscriber, vs an idle response of node:http', own.second, peer.second, TARGET_KIB),
      row('the same, in the first thousand of a fresh process', own.first, peer.first),
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
