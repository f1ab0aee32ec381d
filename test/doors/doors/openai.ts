import OpenAI from 'openai'
import { uuidOf } from '../../../src/core/ids.ts'
import { partsOf } from '../../../src/faces/openai/ids.ts'
import { openAi } from '../../../src/faces/openai/index.ts'
import { readChat } from '../../../src/faces/openai/input.ts'
import type { Json } from '../../kit/events.ts'
import type { Door, Place, Shown } from '../door.ts'

/** A client that names this server is shown approvals as those of a tool server. */
const tools = () => [{ type: 'mcp', server_label: 'agentwire', server_url: 'http://127.0.0.1/none' } as const]

/** The last response of each conversation. */
const last = new Map<string, Json>()

/** The Responses API, streamed by its own client. */
export const responses: Door = {
  name: 'the Responses API',
  faces: [openAi()],
  open({ origin, threadId, agent: model }) {
    const client = new OpenAI({ baseURL: `${origin}/v1`, apiKey: 'key', maxRetries: 0 })
    const post = async (input: Json): Promise<Shown> => {
      const previous: string | undefined = last.get(threadId)?.id
      const params = { model, input, tools: tools(), stream: true, background: true } as const
      const after = previous === undefined ? {} : { previous_response_id: previous }
      const stream = await client.responses.create({ ...params, ...after })
      let text = ''
      let response: Json
      for await (const event of stream) {
        if (event.type === 'response.output_item.added' && event.item.type === 'message') text = ''
        if (event.type === 'response.output_text.delta') text += event.delta
        if ('response' in event) last.set(threadId, (response = event.response))
      }
      if (response.status === 'in_progress') throw new Error('The stream has no end.')
      const asks = response.output.some(({ type }: Json) => type === 'mcp_approval_request')
      return {
        text,
        calls: undefined,
        end: response.status === 'failed' ? 'failed' : asks ? 'asks' : 'completed',
        error: response.error?.message,
      }
    }
    return {
      send: (text) => post(text),
      approve: () =>
        post(
          last
            .get(threadId)
            .output.filter(({ type }: Json) => type === 'mcp_approval_request')
            .map(({ id }: Json) => ({
              type: 'mcp_approval_response',
              approval_request_id: id,
              approve: true,
            })),
        ),
    }
  },
  threadOf: async (place) => threadOf(place),
}

export const responseIdOf = ({ threadId }: Place): string | undefined => last.get(threadId)?.id

/** The id of a response has that of its thread. */
const threadOf = (place: Place): string => partsOf('resp', responseIdOf(place) ?? '')?.[0] ?? ''

/** The first message of each chat. */
const begins = new Map<string, Json>()

/** Chat completions of a UI, which names its chat, sends the whole history, and shows questions as texts. */
export const completions: Door = {
  name: 'chat completions',
  faces: [],
  open({ origin, threadId, agent: model }) {
    const client = new OpenAI({ baseURL: `${origin}/v1`, apiKey: 'key', maxRetries: 0 })
    const history: Json[] = []
    const post = async (...messages: Json[]): Promise<Shown> => {
      history.push(...messages)
      if (!begins.has(threadId)) begins.set(threadId, messages[0]!)
      try {
        const answer = await client.chat.completions
          .stream({ model, messages: history }, { headers: { 'x-conversation-id': threadId } })
          .finalChatCompletion()
        const { message } = answer.choices[0]!
        history.push(message)
        const said = message.content ?? ''
        return {
          // The messages of an answer come as one.
          text: said.split('\n\n').at(-1)!,
          calls: undefined,
          end: said.includes('approve') ? 'asks' : 'completed',
        }
      } catch (error) {
        if (!(error instanceof OpenAI.APIError)) throw error
        return { text: '', calls: undefined, end: 'failed', error: error.message }
      }
    }
    return {
      send: (content) => post({ role: 'user', content }),
      approve: () => post({ role: 'user', content: 'approve' }),
    }
  },
  // A thread of a UI is named by the first message, too.
  threadOf({ agent, threadId }) {
    const [first] = readChat([begins.get(threadId)!]).turns
    return uuidOf(['openai chat', null, agent, threadId, first!.opening])
  },
}
