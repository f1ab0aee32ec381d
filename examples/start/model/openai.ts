import { openai } from 'agentwire/models'
import OpenAI from 'openai'
import { offline } from '../offline.ts'

const { OPENAI_API_KEY, OPENAI_MODEL = 'gpt-5-mini' } = process.env
if (!OPENAI_API_KEY) console.warn('OPENAI_API_KEY is not set, so a script answers in place of the model.')

export const model = OPENAI_API_KEY ? openai(OPENAI_MODEL, new OpenAI()) : offline
