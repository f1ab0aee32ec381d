/** An agent built with the AI SDK: tools, a question before it sends a mail, and a subagent with its own tool. */
import { openai } from '@ai-sdk/openai'
import * as agentwire from 'agentwire'
import { vercel, vercelTarget } from 'agentwire/formats'
import { serve } from 'agentwire/node'
import { type ModelMessage, streamText, type ToolSet } from 'ai'
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
    const messages = vercelTarget.writeRequest(context.messages).messages as ModelMessage[]
    return streamText({ model, system, messages, tools, abortSignal: context.signal }).fullStream
  }
  while (await agentwire.runToolCalls(context, await context.model(ask, vercel), handlers));
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
