import { openaiCompatible } from 'agentwire/models'
import OpenAI from 'openai'
import { offline } from '../offline.ts'

/** Google's endpoint for OpenAI's SDK. */
const GOOGLE = 'https://generativelanguage.googleapis.com/v1beta/openai/'
const { GEMINI_API_KEY, GEMINI_MODEL = 'gemini-2.5-flash', GEMINI_BASE_URL = GOOGLE } = process.env
if (!GEMINI_API_KEY) console.warn('GEMINI_API_KEY is not set, so a script answers in place of the model.')

export const model = GEMINI_API_KEY
  ? openaiCompatible(GEMINI_MODEL, new OpenAI({ apiKey: GEMINI_API_KEY, baseURL: GEMINI_BASE_URL }))
  : offline
