import { afterEach, expect, test, vi } from 'vitest'
import { createAgentServer, defineAgent } from '../../../../src/index.ts'
import { createFrameReader } from '../../../../src/ops/devtools/page/model/frames.ts'
import { createLog } from '../../../../src/ops/devtools/page/model/log.ts'

afterEach(() => vi.unstubAllGlobals())

const counter = defineAgent({
  async run({ custom }) {
    for (let count = 0; count < 20; count++) await custom('tick', { count })
  },
})

/** The page's requests, answered by a server in this process, and the whole log of its thread. */
async function pageOf() {
  const server = createAgentServer({ agents: { counter }, devtools: true })
  const { runId } = await server.engine.start({ threadId: 't', assistantId: 'counter', input: {} })
  await server.engine.wait({ threadId: 't', runId })
  const requests: string[] = []
  vi.stubGlobal('location', { pathname: '/devtools' })
  vi.stubGlobal('fetch', (path: string, init: RequestInit) => {
    requests.push(path)
    return server.fetch(new Request(`http://in.process${path}`, init))
  })
  const { entriesIn, fetchEvents } = await import('../../../../src/ops/devtools/page/data/api.ts')
  return { server, requests, entriesIn, fetchEvents }
}

test('events that the page has dropped come from the server, no more than were asked for', async () => {
  const { server, requests, entriesIn, fetchEvents } = await pageOf()
  const range = { threadId: 't', from: 5, to: 8 }
  expect(entriesIn(createLog({ events: 10, bytes: 1e6 }), range)).toBe(undefined)
  const events = await fetchEvents(range)
  expect(events.map(({ seq }) => seq)).toEqual([5, 6, 7, 8])
  expect(requests).toEqual(['/devtools/api/threads/t/log?after=4'])
  // Those that the page has are the same.
  const log = createLog({ events: 1_000, bytes: 1e6 })
  const text = events.map((event) => `event: x\ndata: ${JSON.stringify(event)}\n\n`).join('')
  for (const frame of createFrameReader()(new TextEncoder().encode(text))) log.add(frame)
  expect(entriesIn(log, range)!.map((entry) => JSON.parse(entry.text))).toEqual(events)
  await server.close()
})
