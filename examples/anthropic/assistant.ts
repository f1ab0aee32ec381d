/**
 * An agent built with Anthropic's SDK. It calls tools, asks before it sends a mail, and has a subagent with
 * its own tool.
 */
import Anthropic from '@anthropic-ai/sdk'
import type { Tool } from '@anthropic-ai/sdk/resources'
import * as agentwire from 'agentwire'
import { anthropic } from 'agentwire/models'
import { assistantTools, look_up, multiply, researcherTools, send_mail } from './tools.ts'

const { ANTHROPIC_MODEL: model = 'claude-sonnet-4-6' } = process.env
const client = new Anthropic()

/** Calls the model and runs its tool calls until it makes no more. */
async function converse(
  context: agentwire.Writer,
  system: string,
  tools: Tool[],
  handlers: agentwire.ToolCallHandlers,
): Promise<void> {
  const ask = () => {
    const { messages } = anthropic.writeRequest(context.messages)
    return client.messages.create({ model, system, messages, tools, max_tokens: 4_096, stream: true })
  }
  while (await agentwire.runToolCalls(context, await context.model(ask, anthropic), handlers));
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
