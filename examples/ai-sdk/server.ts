/** An agent built with the AI SDK: tools, a question before it sends a mail, and a subagent with its own tool. */
import { openai } from '@ai-sdk/openai'
import * as agentwire from 'agentwire'
import { aiSdk } from 'agentwire/models'
import { serve } from 'agentwire/node'
import { streamText, type ToolSet } from 'ai'
import { assistantTools, look_up, multiply, researcherTools, send_mail } from './tools.ts'

const { OPENAI_MODEL = 'gpt-5-mini', PORT = '3000' } = process.env
const model = openai.chat(OPENAI_MODEL)

/** Calls the model and runs its tool calls until it makes no more. */
async function converse(
  context: agentwire.Writer,
  system: string,
  tools: ToolSet,
  handlers: agentwire.ToolCallHandlers,
): Promise<void> {
  const ask = () => {
    const { messages } = aiSdk.writeRequest(context.messages)
    return streamText({ model, system, messages, tools, abortSignal: context.signal }).fullStream
  }
  while (await agentwire.runToolCalls(context, await context.model(ask, aiSdk), handlers));
}

const assistant = agentwire.defineAgent({
  run: (context) =>
    converse(context, 'You are a helpful assistant.', assistantTools, {
      tools: { multiply, send_mail },
      subagents: {
        researcher: (inside) =>
          converse(inside, 'Find out about the topic.', researcherTools, { tools: { look_up } }),
      },
      approve: ['send_mail'],
    }),
})

await serve(agentwire.createAgentServer({ agents: { assistant } }), { port: Number(PORT) })
