import { intercept } from './intercept.ts'

/** What an API is asked: the bodies of its requests. */
type Asked = Record<string, unknown>[]

/** A `fetch` that answers with server-sent events, one list of them for each request. */
function recorded(answers: readonly (readonly object[])[], asked: Asked, named = false): typeof fetch {
  let at = 0
  return async (_url, init) => {
    asked.push(JSON.parse(String(init?.body)))
    const events = answers[at++] ?? []
    const text = events
      .map(
        (event) =>
          `${named ? `event: ${(event as { type: string }).type}\n` : ''}data: ${JSON.stringify(event)}\n\n`,
      )
      .join('')
    return new Response(named ? text : `${text}data: [DONE]\n\n`, {
      headers: { 'content-type': 'text/event-stream' },
    })
  }
}

const chunk = (delta: object, finish_reason: string | null = null) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 0,
  model: 'gpt-5',
  choices: [{ index: 0, delta, finish_reason }],
})

/** An answer of Chat Completions with a text. */
export const says = (text: string) => [chunk({ role: 'assistant', content: text }), chunk({}, 'stop')]

/** An answer of Chat Completions that calls a tool. */
export const calls = (name: string, args: object) => [
  chunk({
    role: 'assistant',
    content: null,
    tool_calls: [
      { index: 0, id: 'call_1', type: 'function', function: { name, arguments: JSON.stringify(args) } },
    ],
  }),
  chunk({}, 'tool_calls'),
]

/** Answers all requests to OpenAI from here on with what was recorded, and gives what is asked. */
export function fakeOpenAI(answers: readonly (readonly object[])[]): Asked {
  const asked: Asked = []
  process.env.OPENAI_API_KEY = 'none'
  intercept('api.openai.com', answerOf(recorded(answers, asked)))
  return asked
}

const answerOf = (answer: typeof fetch) => async (request: Request) =>
  answer(request.url, { body: await request.text() })

/** The same for Anthropic, with one text. */
export function fakeAnthropic(text: string): Asked {
  const asked: Asked = []
  const events = [
    {
      type: 'message_start',
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'claude-sonnet-5-5',
        content: [],
        stop_reason: null,
        usage: { input_tokens: 3, output_tokens: 1 },
      },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 4 } },
    { type: 'message_stop' },
  ]
  process.env.ANTHROPIC_API_KEY = 'none'
  intercept('api.anthropic.com', answerOf(recorded([events], asked, true)))
  return asked
}
