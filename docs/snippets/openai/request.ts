// #region request
import { defineAgent } from 'agentwire'
import { openai } from 'agentwire/models'
import OpenAI from 'openai'

const client = new OpenAI() // reads OPENAI_API_KEY

export const assistant = defineAgent({
  async run({ messages, model, request }) {
    const { tools = [], temperature, maxTokens } = request
    const ask = () =>
      client.chat.completions.create({
        model: 'gpt-5-mini',
        ...openai.writeRequest(messages),
        stream: true,
        ...(tools.length > 0 && { tools: [...tools] }),
        ...(temperature !== undefined && { temperature }),
        ...(maxTokens !== undefined && { max_completion_tokens: maxTokens }),
      })
    await model(ask, openai)
  },
})
// #endregion request
