/** An agent with a model of OpenAI. It calls tools, asks before it sends a mail, and has a subagent with its own tool. */
import { defineAgent } from 'agentwire'
import { openai } from 'agentwire/models'
import OpenAI from 'openai'
import { look_up, multiply, send_mail } from './tools.ts'

const { OPENAI_MODEL = 'gpt-5-mini' } = process.env

export const assistant = defineAgent({
  instructions: 'You are a helpful assistant.',
  model: openai(OPENAI_MODEL, new OpenAI()),
  tools: { multiply, send_mail },
  subagents: {
    researcher: {
      description: 'Finds out about a topic.',
      instructions: 'Find out about the topic.',
      tools: { look_up },
    },
  },
})
