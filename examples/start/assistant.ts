/**
 * An agent without a model: a script provides its texts and tool calls. It asks before it sends a mail, and
 * has a subagent.
 */
import * as agentwire from 'agentwire'
import { openai } from 'agentwire/models'
import { chunksOf, type OpenAIRequest } from '../offline/openai.ts'
import { assistantTools, look_up, multiply, researcherTools, send_mail } from './tools.ts'

type Tools = OpenAIRequest['tools']

/** Calls the script and runs its tool calls until it makes no more. */
async function converse(
  context: agentwire.Writer,
  tools: Tools,
  handlers: agentwire.ToolCallHandlers,
): Promise<void> {
  const ask = () => {
    const { messages } = openai.writeRequest(context.messages)
    return chunksOf({ messages, tools })
  }
  while (await agentwire.runToolCalls(context, await context.model(ask, openai), handlers));
}

export const assistant = agentwire.defineAgent({
  run: (context) =>
    converse(context, assistantTools, {
      tools: { multiply, send_mail },
      subagents: { researcher: (inside) => converse(inside, researcherTools, { tools: { look_up } }) },
      approve: ['send_mail'],
    }),
})
