import { sqlite } from '../kit/backends.ts'
import { type Bench, type Row, runAlone } from './support/report.ts'
import { ALL, newThread, openReaders, runToEnd } from './support/run.ts'
import { type Server, withServers } from './support/server.ts'

/** Measures the resident memory that a burst of 900 events of 1 MB takes at its peak, while one subscriber reads them. */

const EVENTS = 900
const SIZE = 1_000_000
const MIB = 1024 * 1024
const TARGET = 200

async function perBurst(server: Server, assistantId: string): Promise<number> {
  const run = async (events: number, size: number) => {
    const threadId = newThread()
    const [reader] = await openReaders(server, threadId, 1, { filter: ALL })
    await runToEnd(server, threadId, assistantId, { events, size })
    reader!.close()
  }
  await run(100, 1_000)
  const { rss } = await server.memory()
  await server.call('peak')
  await run(EVENTS, SIZE)
  return ((await server.call<number>('peak')) - rss) / MIB
}

async function rowsOf(storage: string, url?: string): Promise<Row[]> {
  const row = (assistantId: string, name: string) =>
    withServers(
      ['ours'],
      async (server): Promise<Row> => {
        const taken = await perBurst(server, assistantId)
        return {
          bench: `${storage}: peak memory of ${EVENTS} events of 1 MB from ${name}`,
          ours: `${taken.toFixed(0)} MiB`,
          peer: '',
          ratio: '',
          target: `<= ${TARGET} MiB`,
          met: taken <= TARGET,
        }
      },
      url,
    )
  return [await row('bulk', 'an agent'), await row('bulkFunction', 'an agent function')]
}

export const bigEvents: Bench = async () => {
  const database = await sqlite.create()
  try {
    return [...(await rowsOf('memory')), ...(await rowsOf('sqlite', database.url))]
  } finally {
    await database.remove()
  }
}

await runAlone(import.meta.url, bigEvents)
