import * as agUi from '@ag-ui/client'
import OpenAI from 'openai'
import { decodeMessage, textOf } from '../../src/messages/index.ts'
import { openChat } from '../ai-sdk/clients.ts'
import { request, threadClient } from '../kit/client.ts'
import { isTerminal, type Json } from '../kit/events.ts'
import type { Door, Place } from './door.ts'
import { responseIdOf } from './doors/openai.ts'

/** A client that comes for an answer which goes on: the texts of the messages that it shows, once the answer has ended. */
type Return = (place: Place) => Promise<readonly string[]>

/**
 * Starts an answer, and gives how its stream has ended for the client. AG-UI's own client rejects twice where a connection is lost,
 * and nobody can catch the second time.
 */
export async function sendStory({ name, open }: Door, place: Place, text: string): Promise<string> {
  try {
    if (name !== 'AG-UI') return (await open(place).send(text)).end
    const input = {
      threadId: place.threadId,
      runId: crypto.randomUUID(),
      messages: [{ id: crypto.randomUUID(), role: 'user', content: text }],
    }
    const { body } = await request(place.origin, 'POST', `/ag-ui/${place.agent}`, input)
    return body.includes('RUN_FINISHED') ? 'completed' : 'failed'
  } catch {
    return 'broken'
  }
}

/** How the client of each door comes back to an answer that goes on, at whatever server. */
export const RETURNS: Readonly<Record<string, Return>> = {
  async 'the streaming protocol'({ origin, threadId }) {
    const client = threadClient(origin, threadId, {})
    const stream = await client.stream({ since: 0 })
    await stream.until((events) => events.some(isTerminal))
    stream.close()
    const { values } = (await client.get('/state')).body
    return (values.messages as readonly unknown[])
      .map((raw) => decodeMessage(raw)!)
      .filter(({ role }) => role === 'assistant')
      .map(textOf)
  },

  // A stream that has shown what is void now breaks off, and the page comes back.
  'the AI SDK': (place) =>
    persistently(async () => {
      const { chat, ends } = openChat({ origin: place.origin, id: place.threadId })
      await chat.resumeStream()
      const [end] = await ends()
      if (end !== 'done') throw new Error(`The stream is ${end}.`)
      const parts: readonly Json[] = chat.lastMessage!.parts
      return parts.filter(({ type }) => type === 'text').map(({ text }) => text)
    }),

  'the Responses API': (place) => persistently(() => reread(place)),

  'AG-UI': (place) =>
    persistently(async () => {
      const agent = new ConnectingAgent(place)
      let problem: string | undefined
      await agent.connectAgent({}, { onRunErrorEvent: ({ event }) => void (problem = event.message) })
      if (problem) throw new Error(problem)
      return agent.messages.filter(({ role }) => role === 'assistant').map(({ content }) => content as string)
    }),
}

/** The messages of a response that is read again from its first event. Those that a lost process has begun are incomplete. */
async function reread(place: Place): Promise<readonly string[]> {
  const client = new OpenAI({ baseURL: `${place.origin}/v1`, apiKey: 'key', maxRetries: 0 })
  const texts: string[] = []
  const stream = await client.responses.retrieve(responseIdOf(place)!, { stream: true })
  let text = ''
  for await (const event of stream) {
    if (event.type === 'response.output_item.added') text = ''
    if (event.type === 'response.output_text.delta') text += event.delta
    if (event.type === 'response.output_item.done' && event.item.type === 'message')
      if (event.item.status === 'completed') texts.push(text)
    if (event.type === 'response.completed') return texts
  }
  throw new Error('The response has no end.')
}

/** An agent that can connect, as CopilotKit's can. */
class ConnectingAgent extends agUi.HttpAgent {
  readonly #place: Place
  constructor(place: Place) {
    super({ url: `${place.origin}/ag-ui/${place.agent}`, threadId: place.threadId })
    this.#place = place
  }
  protected override connect(input: Parameters<typeof this.run>[0]): ReturnType<typeof this.run> {
    const url = `${this.#place.origin}/ag-ui/agent/${this.#place.agent}/connect`
    const response = () => fetch(url, this.requestInit(input))
    return agUi.transformHttpEventStream(agUi.runHttpRequest(response)) as never
  }
}

/** Comes back as often as the connection is lost. */
async function persistently(comeBack: () => Promise<readonly string[]>): Promise<readonly string[]> {
  for (let failures = 0; ; failures++)
    try {
      return await comeBack()
    } catch (error) {
      if (failures === 20) throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
}
