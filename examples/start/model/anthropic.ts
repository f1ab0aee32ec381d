import Anthropic from '@anthropic-ai/sdk'
import { anthropic } from 'agentwire/models'
import { offline } from '../offline.ts'

const { ANTHROPIC_API_KEY, ANTHROPIC_MODEL = 'claude-sonnet-4-6' } = process.env
if (!ANTHROPIC_API_KEY)
  console.warn('ANTHROPIC_API_KEY is not set, so a script answers in place of the model.')

export const model = ANTHROPIC_API_KEY ? anthropic(ANTHROPIC_MODEL, new Anthropic()) : offline
