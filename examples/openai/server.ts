import { createAgentServer } from 'agentwire'
import { serve } from 'agentwire/node'
import { assistant } from './assistant.ts'

const { PORT = '3000' } = process.env
await serve(createAgentServer({ agents: { assistant } }), { port: Number(PORT) })
