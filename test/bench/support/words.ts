import { type Bench, least, takeTurns, times } from './report.ts'
import { type Server, withServers } from './server.ts'

const WORDS = 2_000
const ANSWERS = 10
const TARGET = 1.3

/** Measures the server's CPU time for an answer of 2,000 words, with its run: as `answer` asks for it, and over the streaming protocol. */
export const wordsOf =
  (bench: string, answer: (server: Server) => Promise<void>): Bench =>
  () =>
    withServers(['ours'], async (server) => {
      const measure = (ask: (server: Server) => Promise<void>) => async () => {
        const before = await server.cpu()
        for (let at = 0; at < ANSWERS; at++) await ask(server)
        return ((await server.cpu()) - before) / (ANSWERS * WORDS)
      }
      const took = await takeTurns(8, { answer: measure(answer), protocol: measure(protocol) })
      const [ours, peer] = [least(took.answer), least(took.protocol)]
      return [
        {
          bench,
          ours: `${ours.toFixed(2)} us`,
          peer: `${peer.toFixed(2)} us`,
          ratio: times(ours / peer),
          target: `<= ${times(TARGET)}`,
          met: ours / peer <= TARGET,
        },
      ]
    })

async function protocol({ port }: Server): Promise<void> {
  const thread = `/threads/${crypto.randomUUID()}`
  const input = { messages: [{ role: 'user', content: 'Speak' }] }
  const params = { assistant_id: 'words', input }
  await (await post(port, `${thread}/commands`, { id: 1, method: 'run.start', params })).text()
  const channels = ['lifecycle', 'messages', 'tools', 'values', 'input', 'custom']
  await readUntil(await post(port, `${thread}/stream`, { channels, since: 0 }), '"event":"completed"')
}

export const post = (port: number, path: string, body: object): Promise<Response> =>
  fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify(body),
  })

/** Reads a stream until it has sent this, and leaves it. */
export async function readUntil(response: Response, end: string): Promise<void> {
  const decoder = new TextDecoder()
  let tail = ''
  for await (const bytes of response.body!) {
    tail = tail.slice(-end.length) + decoder.decode(bytes)
    if (tail.includes(end)) return
  }
  throw new Error(`The stream ended before ${end}.`)
}
