import { aiSdk } from '../../src/ai-sdk/index.ts'
import { createAgentServer, defineAgent } from '../../src/index.ts'
import { type Bench, least, runAlone, takeTurns, times } from './support/report.ts'

/** Measures the CPU time of an answer of 2,000 words, with its run, that one page reads: as chunks of the AI SDK, and over the streaming protocol. */

const WORDS = 2_000
const ANSWERS = 5

const speaker = defineAgent({
  async run({ message }) {
    const writer = message()
    for (let at = 0; at < WORDS; at++) {
      void writer.text(`word ${at} `)
      // As tokens come from a model: a few at a time.
      if (at % 4 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
  },
})

const headers = { 'content-type': 'application/json' }

export const aiSdkChats: Bench = async () => {
  const server = createAgentServer({
    agents: { speaker },
    faces: [aiSdk()],
    authenticate: () => ({ id: 'bench' }),
  })
  const post = (path: string, body: object) =>
    server.fetch(new Request(`http://x${path}`, { method: 'POST', headers, body: JSON.stringify(body) }))

  async function chat(): Promise<void> {
    const parts = [{ type: 'text', text: 'Speak' }]
    const messages = [{ id: crypto.randomUUID(), role: 'user', parts }]
    await read(await post('/api/chat', { id: crypto.randomUUID(), messages }), '[DONE]')
  }

  async function protocol(): Promise<void> {
    const thread = `/threads/${crypto.randomUUID()}`
    const input = { messages: [{ role: 'user', content: 'Speak' }] }
    await post(`${thread}/commands`, { id: 1, method: 'run.start', params: { input } })
    const channels = ['lifecycle', 'messages', 'tools', 'values', 'input', 'custom']
    await read(await post(`${thread}/stream`, { channels, since: 0 }), '"completed"')
  }

  const measure = (answer: () => Promise<void>) => async () => {
    const before = process.cpuUsage()
    for (let at = 0; at < ANSWERS; at++) await answer()
    const { user, system } = process.cpuUsage(before)
    return (user + system) / (ANSWERS * WORDS)
  }
  const took = await takeTurns(8, { chat: measure(chat), protocol: measure(protocol) })
  await server.close()
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
}

/** Reads a stream until it has sent this. */
async function read(response: Response, end: string): Promise<void> {
  const decoder = new TextDecoder()
  let tail = ''
  for await (const bytes of response.body!) {
    const text = decoder.decode(bytes)
    tail = tail.slice(-end.length) + text
    if (tail.includes(end)) return
  }
}

await runAlone(import.meta.url, aiSdkChats)
