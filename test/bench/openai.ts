import { openAi } from '../../src/faces/openai/index.ts'
import { createAgentServer, defineAgent } from '../../src/index.ts'
import { type Bench, median, runAlone, times } from './support/report.ts'

/** Measures the CPU time of a streamed answer at the door of OpenAI's clients, against the streaming protocol's, in one process without sockets. */

const WORDS = 4_000
const ROUNDS = 7
const TARGET = 1.3

const talker = defineAgent({
  async run({ message }) {
    const answer = message()
    for (let at = 0; at < WORDS; at++) await answer.text('word ')
    await answer.end()
  },
})

const json = (path: string, body: object): Request =>
  new Request(`http://127.0.0.1${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

export const openAiStreams: Bench = async () => {
  const server = createAgentServer({ agents: { talker }, faces: [openAi()] })
  const words = [{ role: 'user', content: 'Go' }]
  const readers = {
    async protocol() {
      const thread = `/threads/${crypto.randomUUID()}`
      const params = { assistant_id: 'talker', input: { messages: words } }
      await server.fetch(json(`${thread}/commands`, { id: 1, method: 'run.start', params }))
      const events = await server.fetch(
        json(`${thread}/stream/events`, { channels: ['messages', 'lifecycle'], since: 0 }),
      )
      return until(events, /"event":"completed"/)
    },
    responses: async () =>
      until(
        await server.fetch(json('/v1/responses', { model: 'talker', input: 'Go', stream: true })),
        /\[DONE\]/,
      ),
    chat: async () =>
      until(
        await server.fetch(json('/v1/chat/completions', { model: 'talker', messages: words, stream: true })),
        /\[DONE\]/,
      ),
  }
  const spent: Record<keyof typeof readers, number[]> = { protocol: [], responses: [], chat: [] }
  for (let round = 0; round <= ROUNDS; round++)
    for (const [name, read] of Object.entries(readers)) {
      const before = process.cpuUsage()
      await read()
      const { user, system } = process.cpuUsage(before)
      // The first round warms up.
      if (round > 0) spent[name as keyof typeof readers].push((user + system) / 1_000)
    }
  await server.close()
  const base = median(spent.protocol)
  return (['responses', 'chat'] as const).map((name) => {
    const own = median(spent[name])
    return {
      bench: `CPU of ${WORDS} streamed words as ${name} of OpenAI, vs the streaming protocol`,
      ours: `${own.toFixed(0)} ms`,
      peer: `${base.toFixed(0)} ms`,
      ratio: times(own / base),
      target: `<= ${TARGET}x`,
      met: own <= base * TARGET,
    }
  })
}

/** Reads a stream until its text has the mark. */
async function until({ body }: Response, mark: RegExp): Promise<void> {
  const decoder = new TextDecoder()
  const reader = body!.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done || mark.test(decoder.decode(value))) break
  }
  await reader.cancel()
}

await runAlone(import.meta.url, openAiStreams)
