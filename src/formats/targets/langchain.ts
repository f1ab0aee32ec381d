import { encodeMessage, encodeUsage, type Message, textOf } from '../../messages/index.ts'
import { textOfFile } from './media.ts'
import type { Target } from './target.ts'
import { prepareThread, type Rules } from './thread.ts'
import { present } from './write.ts'

/** LangChain: a request is a batch of one list of messages, a response has `generations`. */
export const langchainTarget: Target = {
  name: 'langchain',
  writeRequest: (messages) => ({ messages: [prepareThread(messages, RULES).map(writeMessage)] }),
  writeResponse: (messages) =>
    present({
      generations: [messages.map((message) => ({ text: textOf(message), message: writeMessage(message) }))],
      llmOutput: messages[0]?.usage && { token_usage: encodeUsage(messages[0].usage) },
    }),
}

/** LangChain's packages write the blocks for each provider, and leave out what theirs does not know. */
const RULES: Rules = {
  ids: /^[!-~]{1,64}$/,
  takes: (media, place) => (place === 'user' || place === 'tool') && textOfFile(media) === undefined,
  owns: ({ type }) => type !== 'text' && type !== 'nonStandard',
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
    kwargs: { ...kwargs, response_metadata: present({ ...about, model_name: model }) },
  }
}
