import { encodeMessage, encodeUsage, type Message, textOf } from '../../../messages/index.ts'
import { dropUndefined } from '../fields.ts'
import type { Target } from './target.ts'

/** LangChain: a request is a batch of one list of messages, a response has `generations`. */
export const langchainTarget: Target = {
  name: 'langchain',
  writeInputs: (messages) => ({ messages: [messages.map(writeMessage)] }),
  writeOutputs: (messages) =>
    dropUndefined({
      generations: [messages.map((message) => ({ text: textOf(message), message: writeMessage(message) }))],
      llmOutput: messages[0]?.usage && { token_usage: encodeUsage(messages[0].usage) },
    }),
}

const CLASSES = {
  system: 'SystemMessage',
  user: 'HumanMessage',
  assistant: 'AIMessage',
  reasoning: 'AIMessage',
  tool: 'ToolMessage',
} as const

function writeMessage(message: Message): unknown {
  const { type: _, response_metadata, ...kwargs } = encodeMessage(message)
  const { model, ...about } = response_metadata ?? {}
  return {
    lc: 1,
    type: 'constructor',
    id: ['langchain_core', 'messages', CLASSES[message.role]],
    kwargs: { ...kwargs, response_metadata: dropUndefined({ ...about, model_name: model }) },
  }
}
