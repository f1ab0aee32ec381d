import { json } from '../../../core/http/index.ts'
import { itemsOf } from '../../../messages/record.ts'
import type { FaceCall } from '../../kit/routes.ts'
import { pageOf } from '../items/endpoints.ts'
import { itemsOfState } from '../items/state.ts'
import type { OpenAiContext } from '../options.ts'
import { messagesOfRun } from '../state.ts'
import type { TokensBody } from '../wire.ts'
import { keptResponse } from './kept.ts'

/** `GET /v1/responses/{id}/input_items`: the messages of the conversation up to the answer. */
export async function listInputItems(context: OpenAiContext, call: FaceCall): Promise<Response> {
  const { run, details, principal } = await keptResponse(context, call, 'runs:read')
  const { engine } = context
  const { threadId, runId } = run
  const thread = await engine.findThread({ threadId, principal })
  let messages: readonly unknown[] = []
  if (thread)
    for await (const { values } of engine.readHistory(thread, {}, { limit: 1, filter: { run_id: runId } }))
      messages = itemsOf(values.messages)
  const [first] = messagesOfRun(messages, details.after)
  const end = first ? messages.findIndex((one) => Object(one).id === first.id) : messages.length
  return json(pageOf(call, itemsOfState(messages.slice(0, end))))
}

/** Most tokenizers make one of about this many characters. */
const CHARACTERS = 4

/** `POST /v1/responses/input_tokens`: an estimate, because agents choose their models and prompts themselves. */
export async function countTokens(_: OpenAiContext, { body }: FaceCall<TokensBody>): Promise<Response> {
  const { input = '', instructions = '', tools = [] } = body
  const text = typeof input === 'string' ? input : JSON.stringify(input)
  const length = text.length + instructions.length + (tools.length > 0 ? JSON.stringify(tools).length : 0)
  return json({ object: 'response.input_tokens', input_tokens: Math.ceil(length / CHARACTERS) })
}
