import { defineAgent } from 'agentwire'
import { model } from './model/scripted.ts'
import { look_up, send_mail } from './tools.ts'

export const assistant = defineAgent({
  instructions: 'You are a helpful assistant. Answer in Markdown.',
  model,
  tools: { look_up, send_mail },
})
