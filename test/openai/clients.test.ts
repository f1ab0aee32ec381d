import { createOpenAI } from '@ai-sdk/openai'
import { type AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages'
import { tool as langchainTool } from '@langchain/core/tools'
import { ChatOpenAI } from '@langchain/openai'
import { tool as aiTool, generateText, type ModelMessage, stepCountIs, streamText } from 'ai'
import { createOpenAI as createOpenAI4 } from 'ai-sdk-openai-4'
import { tool as aiTool7, generateText as generateText7, isStepCount, streamText as streamText7 } from 'ai7'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { assistant, counting, served } from './served.ts'

const agents = () => ({ assistant, counting })
const parameters = z.object({ location: z.string() })

describe('the AI SDK', () => {
  const versions = [
    {
      name: '6',
      provider: (baseURL: string) => createOpenAI({ baseURL, apiKey: 'key' }),
      generate: generateText,
      stream: streamText,
      stop: stepCountIs(3),
      makeTool: aiTool,
    },
    {
      name: '7',
      provider: (baseURL: string) => createOpenAI4({ baseURL, apiKey: 'key' }),
      generate: generateText7 as unknown as typeof generateText,
      stream: streamText7 as unknown as typeof streamText,
      stop: isStepCount(3) as unknown as ReturnType<typeof stepCountIs>,
      makeTool: aiTool7 as unknown as typeof aiTool,
    },
  ]

  for (const { name, provider, generate, stream, stop, makeTool } of versions)
    describe(name, () => {
      const modelsOf = (baseURL: string, model: string) => {
        const openai = provider(baseURL)
        return [openai.responses(model), openai.chat(model)] as unknown as Parameters<
          typeof generateText
        >[0]['model'][]
      }

      test('gets texts, whole and streamed', async () => {
        const { baseURL } = await served(agents())
        for (const model of modelsOf(baseURL, 'assistant')) {
          const whole = await generate({ model, prompt: 'Hi', maxRetries: 0 })
          expect([whole.text, whole.finishReason, whole.usage.totalTokens]).toEqual([
            'You said: Hi',
            'stop',
            4,
          ])
          const streamed = stream({ model, prompt: 'Hi', maxRetries: 0 })
          let text = ''
          for await (const piece of streamed.textStream) text += piece
          expect([text, await streamed.finishReason]).toEqual(['You said: Hi', 'stop'])
        }
      })

      test('runs its own tools in a loop', async () => {
        const { baseURL } = await served(agents())
        for (const model of modelsOf(baseURL, 'assistant')) {
          const get_weather = makeTool({
            description: 'Weather.',
            inputSchema: parameters,
            execute: async ({ location }) => `rain in ${location}`,
          })
          const request = { model, prompt: 'Weather?', tools: { get_weather }, stopWhen: stop, maxRetries: 0 }
          expect((await generate(request)).text).toBe('The weather: rain in Oslo')
          const streamed = stream(request)
          expect(await streamed.text).toBe('The weather: rain in Oslo')
        }
      })

      test('goes on with a conversation that it refers to', async () => {
        const { baseURL } = await served(agents())
        const [model] = modelsOf(baseURL, 'counting')
        const messages: ModelMessage[] = [{ role: 'user', content: 'a' }]
        const one = await generate({ model: model!, messages, maxRetries: 0 })
        messages.push(...one.response.messages, { role: 'user', content: 'b' })
        const two = await generate({ model: model!, messages, maxRetries: 0 })
        expect(two.text).toBe('u:a|a:u:a|u:b')
      })
    })
})

describe("LangChain's ChatOpenAI", () => {
  for (const useResponsesApi of [true, false])
    test(`by ${useResponsesApi ? 'responses' : 'chat completions'}`, async () => {
      const { baseURL } = await served(agents())
      const model = new ChatOpenAI({
        model: 'assistant',
        apiKey: 'key',
        useResponsesApi,
        maxRetries: 0,
        configuration: { baseURL },
      })
      const whole = await model.invoke('Hi')
      expect(whole.text).toBe('You said: Hi')
      expect(whole.usage_metadata?.total_tokens).toBe(4)
      let text = ''
      for await (const chunk of await model.stream('Hi')) text += chunk.text
      expect(text).toBe('You said: Hi')
      const weather = langchainTool(({ location }) => `rain in ${location}`, {
        name: 'get_weather',
        description: 'Weather.',
        schema: parameters,
      })
      const bound = model.bindTools([weather])
      const question = new HumanMessage('Weather?')
      const call = await bound.invoke([question])
      expect(call.tool_calls).toMatchObject([
        { id: 'call_weather', name: 'get_weather', args: { location: 'Oslo' } },
      ])
      const streamed = await bound.stream([question])
      let gathered: AIMessage | undefined
      for await (const chunk of streamed)
        gathered = gathered ? (gathered as typeof chunk).concat(chunk) : chunk
      expect(gathered?.tool_calls).toMatchObject([{ id: 'call_weather', args: { location: 'Oslo' } }])
      const result = new ToolMessage({ tool_call_id: 'call_weather', content: 'rain' })
      expect((await bound.invoke([question, call, result])).text).toBe('The weather: rain')
    })
})
