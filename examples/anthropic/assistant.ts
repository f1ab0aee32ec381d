/** An agent with a model of Anthropic. It calls tools, asks before it sends a mail, and has a subagent with its own tool. */
import Anthropic from '@anthropic-ai/sdk'
import { defineAgent } from 'agentwire'
import { anthropic } from 'agentwire/models'
import { look_up, multiply, send_mail } from './tools.ts'

const { ANTHROPIC_MODEL = 'claude-sonnet-4-6' } = process.env

export const assistant = defineAgent({
  instructions: 'You are a helpful assistant.',
  model: anthropic(ANTHROPIC_MODEL, new Anthropic()),
  tools: { multiply, send_mail },
  subagents: {
    researcher: {
      description: 'Finds out about a topic.',
      instructions: 'Find out about the topic.',
      tools: { look_up },
    },
  },
})
