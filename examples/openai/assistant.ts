/**
 * An agent built with OpenAI's SDK. It calls tools, asks before it sends a mail, and has a subagent with its
 * own tool.
 */
import * as agentwire from 'agentwire'
import { openai } from 'agentwire/models'
import OpenAI from 'openai'
import type { ChatCompletionTool } from 'openai/resources'
import { assistantTools, look_up, multiply, researcherTools, send_mail } from './tools.ts'

const { OPENAI_MODEL: model = 'gpt-5-mini' } = process.env
const client = new OpenAI()

/** Calls the model and runs its tool calls until it makes no more. */
async function converse(
  context: agentwire.Writer,
  system: string,
  tools: ChatCompletionTool[],
  handlers: agentwire.ToolCallHandlers,
): Promise<void> {
  const ask = () => {
    const written = openai.writeRequest(context.messages)
    const messages = [{ role: 'system' as const, content: system }, ...written.messages]
    return client.chat.completions.create({ model, messages, tools, stream: true })
  }
  while (await agentwire.runToolCalls(context, await context.model(ask, openai), handlers));
}

export const assistant = agentwire.defineAgent({
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
