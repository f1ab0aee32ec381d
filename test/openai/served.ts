import OpenAI from 'openai'
import OpenAI7 from 'openai7'
import type { Agent } from '../../src/agents/agent.ts'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { type OpenAiOptions, openAi } from '../../src/faces/openai/index.ts'
import { defineAgent, memoryCheckpointer, memoryStore, textOf } from '../../src/index.ts'
import type { Json } from '../kit/events.ts'
import { serveAgents } from '../kit/host.ts'

/** A function agent that calls `get_weather` of its client where it has that tool, and otherwise repeats what the user has said. */
export const assistant = defineAgent({
  async run({ messages, message, config }) {
    const tools = (config.configurable.client_tools ?? []) as readonly { function: { name: string } }[]
    const last = messages.at(-1)!
    const answer = message()
    if (tools.some((tool) => tool.function.name === 'get_weather') && last.role === 'user')
      await answer.toolCall({ id: 'call_weather', name: 'get_weather', args: { location: 'Oslo' } })
    else {
      await answer.reasoning('Let me think. ')
      await answer.text(last.role === 'tool' ? 'The weather: ' : 'You said: ')
      await answer.text(textOf(last))
    }
    await answer.usage({ inputTokens: messages.length, outputTokens: 3, totalTokens: messages.length + 3 })
    await answer.end({ reason: 'stop' })
  },
})

/** Asks, and says what was answered. */
export const asking = defineAgent({
  async run({ message, interrupt }) {
    const answer = await interrupt<unknown>({ question: 'Which city?' })
    await message(`You want ${JSON.stringify(answer)}.`)
  },
})

/** Tells all that was said so far, as the graph knows it. */
export const counting = defineAgent({
  async run({ messages, message }) {
    await message(messages.map((one) => `${one.role[0]}:${textOf(one)}`).join('|'))
  },
})

export async function served(
  agents: Readonly<Record<string, Agent>>,
  options: OpenAiOptions = {},
  more: object = {},
) {
  const store = memoryStore()
  const host = await serveAgents({
    agents,
    store,
    checkpointer: memoryCheckpointer(),
    faces: [openAi(options)],
    ...more,
  })
  const baseURL = `${host.origin}/v1`
  const request = async (
    method: string,
    path: string,
    body?: Json,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<{ status: number; headers: Headers; text: string; body: Json }> => {
    const response = await fetch(`${baseURL}${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json')
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson ? JSON.parse(text) : undefined,
    }
  }
  return {
    ...host,
    store,
    baseURL,
    request,
    openai: new OpenAI({ baseURL, apiKey: 'key', maxRetries: 0 }),
    threadIds: async () => {
      const ids: string[] = []
      for await (const { threadId } of host.server.engine.listThreads()) ids.push(threadId)
      return ids
    },
  }
}

/** The clients of both major versions, by the same name. */
export const clientsOf = (baseURL: string) =>
  [
    ['openai 6', new OpenAI({ baseURL, apiKey: 'key', maxRetries: 0 })],
    ['openai 7', new OpenAI7({ baseURL, apiKey: 'key', maxRetries: 0 }) as unknown as OpenAI],
  ] as const

export { langgraph }

export const WEATHER = {
  name: 'get_weather',
  description: 'The weather of a place.',
  parameters: { type: 'object', properties: { location: { type: 'string' } }, required: ['location'] },
} as const

/** The events of a text of server-sent events. */
export const eventsOf = (text: string): Json[] =>
  text
    .split('\n\n')
    .map((frame) => /^data: (.*)$/m.exec(frame)?.[1])
    .filter((data): data is string => data !== undefined && data !== '[DONE]')
    .map((data) => JSON.parse(data))

/** The same without comments, which depend on the time. */
export const withoutComments = (text: string): string => text.replace(/^:.*\n/gm, '')
