// #region request
import { defineAgent } from 'agentwire'
import { completionsTarget, openaiChat } from 'agentwire/formats'
import OpenAI from 'openai'
import type { ChatCompletionMessageParam } from 'openai/resources'

const openai = new OpenAI() // reads OPENAI_API_KEY

export const assistant = defineAgent({
  async run({ messages, model, request }) {
    const { tools = [], temperature, maxTokens } = request
    const written = completionsTarget.writeRequest(messages)
    const ask = () =>
      openai.chat.completions.create({
        model: 'gpt-5-mini',
        messages: written.messages as ChatCompletionMessageParam[],
        stream: true,
        ...(tools.length > 0 && { tools: [...tools] }),
        ...(temperature !== undefined && { temperature }),
        ...(maxTokens !== undefined && { max_completion_tokens: maxTokens }),
      })
    await model(ask, openaiChat)
  },
})
// #endregion request
