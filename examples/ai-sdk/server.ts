/** An agent with a model of the AI SDK. It calls tools, asks before it sends a mail, and has a subagent with its own tool. */
import { openai } from '@ai-sdk/openai'
import { createAgentServer, defineAgent } from 'agentwire'
import { aiSdk } from 'agentwire/models'
import { serve } from 'agentwire/node'
import { look_up, multiply, send_mail } from './tools.ts'

const { OPENAI_MODEL = 'gpt-5-mini', PORT = '3000' } = process.env

const assistant = defineAgent({
  instructions: 'You are a helpful assistant.',
  model: aiSdk(openai.chat(OPENAI_MODEL)),
  tools: { multiply, send_mail },
  subagents: {
    researcher: {
      description: 'Finds out about a topic.',
      instructions: 'Find out about the topic.',
      tools: { look_up },
    },
  },
})

await serve(createAgentServer({ agents: { assistant } }), { port: Number(PORT) })
