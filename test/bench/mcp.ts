import { type Bench, least, runAlone, takeTurns, times } from './support/report.ts'
import { type Server, withServers } from './support/server.ts'

/** Measures the server's CPU time for an answer of 2,000 words, with its run: as a call of a tool with progress, and over the streaming protocol. */

const WORDS = 2_000
const ANSWERS = 10

export const mcpCalls: Bench = () =>
  withServers(['ours'], async (server) => {
    const measure = (answer: (server: Server) => Promise<void>) => async () => {
      const before = await server.cpu()
      for (let at = 0; at < ANSWERS; at++) await answer(server)
      return ((await server.cpu()) - before) / (ANSWERS * WORDS)
    }
    const took = await takeTurns(8, { tool: measure(tool), protocol: measure(protocol) })
    const [ours, peer] = [least(took.tool), least(took.protocol)]
    return [
      {
        bench: 'a word of an answer to a call of MCP, vs the streaming protocol',
        ours: `${ours.toFixed(2)} us`,
        peer: `${peer.toFixed(2)} us`,
        ratio: times(ours / peer),
        target: `<= ${times(1.3)}`,
        met: ours / peer <= 1.3,
      },
    ]
  })

async function tool({ port }: Server): Promise<void> {
  const params = { name: 'words', arguments: { message: 'Speak' }, _meta: { progressToken: 1 } }
  const called = await post(port, '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params })
  const text = await called.text()
  if (!text.includes('"content"')) throw new Error(text)
}

async function protocol({ port }: Server): Promise<void> {
  const thread = `/threads/${crypto.randomUUID()}`
  const input = { messages: [{ role: 'user', content: 'Speak' }] }
  const params = { assistant_id: 'words', input }
  await (await post(port, `${thread}/commands`, { id: 1, method: 'run.start', params })).text()
  const channels = ['lifecycle', 'messages', 'tools', 'values', 'input', 'custom']
  const stream = await post(port, `${thread}/stream`, { channels, since: 0 })
  const decoder = new TextDecoder()
  let tail = ''
  for await (const bytes of stream.body!) {
    tail = tail.slice(-30) + decoder.decode(bytes)
    if (tail.includes('"event":"completed"')) return
  }
  throw new Error('The stream ended before the answer.')
}

const post = (port: number, path: string, body: object): Promise<Response> =>
  fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify(body),
  })

await runAlone(import.meta.url, mcpCalls)
