import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { nextTurn, type Work } from './agents.ts'
import { customFrame } from './events.ts'
import { serveCalls } from './process.ts'

/** The least that a server can do on `node:http`: it has no protocol, no log and no backpressure, and all readers share each event's bytes. */

const HEAD = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache, no-transform' }
const readers = new Set<ServerResponse>()
let kept: Uint8Array[] = []

const server = createServer((req, res) => {
  req.resume()
  res.writeHead(200, HEAD)
  if (req.url === '/replay') {
    replay(res).catch((error) => res.destroy(error))
    return
  }
  res.write(': ok\n\n')
  readers.add(res)
  res.on('close', () => readers.delete(res))
})

async function replay(res: ServerResponse): Promise<void> {
  for (const bytes of kept) if (!res.write(bytes)) await once(res, 'drain')
}

await serveCalls(server, {
  async start({ events, size, turns }: Work) {
    for (let seq = 1; seq <= events; seq++) {
      if (turns) await nextTurn()
      const bytes = customFrame(size, seq)
      for (const reader of readers) reader.write(bytes)
    }
  },
  keep({ events, size }: Work) {
    kept = Array.from({ length: events }, (_, i) => customFrame(size, i + 1))
  },
})
