/** An agent over Anthropic's SDK. It calls tools, asks before it sends a mail, and has a subagent with a tool of its own. */
import Anthropic from '@anthropic-ai/sdk'
import type { MessageParam, Tool } from '@anthropic-ai/sdk/resources'
import * as agentwire from 'agentwire'
import { anthropicMessages, anthropicTarget } from 'agentwire/formats'
import { assistantTools, look_up, multiply, researcherTools, send_mail } from './tools.ts'

const { ANTHROPIC_MODEL: model = 'claude-sonnet-4-6' } = process.env
const anthropic = new Anthropic()

/** Asks the model, and answers what it calls, until it has nothing more to call. */
async function converse(
  context: agentwire.Writer,
  system: string,
  tools: Tool[],
  handlers: agentwire.ToolCallHandlers,
): Promise<void> {
  const ask = () => {
    const messages = anthropicTarget.writeRequest(context.messages).messages as MessageParam[]
    return anthropic.messages.create({ model, system, messages, tools, max_tokens: 4_096, stream: true })
  }
  while (await agentwire.runToolCalls(context, await context.model(ask, anthropicMessages), handlers));
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
