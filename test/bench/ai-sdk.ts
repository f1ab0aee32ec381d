import { type Bench, least, runAlone, takeTurns, times } from './support/report.ts'
import { type Server, withServers } from './support/server.ts'

/** Measures the server's CPU time for an answer of 2,000 words, with its run, that one page reads: as chunks of the AI SDK, and over the streaming protocol. */

const WORDS = 2_000
const ANSWERS = 10

export const aiSdkChats: Bench = () =>
  withServers(['ours'], async (server) => {
    const measure = (answer: (server: Server) => Promise<void>) => async () => {
      const before = await server.cpu()
      for (let at = 0; at < ANSWERS; at++) await answer(server)
      return ((await server.cpu()) - before) / (ANSWERS * WORDS)
    }
    const took = await takeTurns(8, { chat: measure(chat), protocol: measure(protocol) })
    const [ours, peer] = [least(took.chat), least(took.protocol)]
    return [
      {
        bench: 'a word of an answer as chunks of the AI SDK, vs the streaming protocol',
        ours: `${ours.toFixed(2)} us`,
        peer: `${peer.toFixed(2)} us`,
        ratio: times(ours / peer),
        target: `<= ${times(1.3)}`,
        met: ours / peer <= 1.3,
      },
    ]
  })

async function chat({ port }: Server): Promise<void> {
  const parts = [{ type: 'text', text: 'Speak' }]
  const messages = [{ id: crypto.randomUUID(), role: 'user', parts }]
  const body = { id: crypto.randomUUID(), assistantId: 'words', messages }
  await read(await post(port, '/api/chat', body), '[DONE]')
}

async function protocol({ port }: Server): Promise<void> {
  const thread = `/threads/${crypto.randomUUID()}`
  const input = { messages: [{ role: 'user', content: 'Speak' }] }
  const params = { assistant_id: 'words', input }
  await (await post(port, `${thread}/commands`, { id: 1, method: 'run.start', params })).text()
  const channels = ['lifecycle', 'messages', 'tools', 'values', 'input', 'custom']
  await read(await post(port, `${thread}/stream`, { channels, since: 0 }), '"event":"completed"')
}

const post = (port: number, path: string, body: object): Promise<Response> =>
  fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

/** Reads a stream until it has sent this, and leaves it. */
async function read(response: Response, end: string): Promise<void> {
  const decoder = new TextDecoder()
  let tail = ''
  for await (const bytes of response.body!) {
    tail = tail.slice(-end.length) + decoder.decode(bytes)
    if (tail.includes(end)) return
  }
  throw new Error(`The stream ended before ${end}.`)
}

await runAlone(import.meta.url, aiSdkChats)
