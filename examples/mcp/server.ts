/** An agent as an MCP tool: it reports its progress, and asks before it books. */
import { createAgentServer, defineAgent } from 'agentwire'
import { mcp } from 'agentwire/mcp'
import { serve } from 'agentwire/node'
import { z } from 'zod'

const { PORT = '3000' } = process.env

const book = defineAgent({
  name: 'Table booking',
  description: 'Books a table in a restaurant. Asks the user before it books.',
  input: z.object({ restaurant: z.string(), guests: z.number().int().min(1) }),
  async run({ input: { restaurant, guests }, custom, interrupt, message }) {
    await custom({ progress: 1, total: 2, message: `Asks ${restaurant} for a table` })
    const answer = await interrupt<{ action: string; content?: { at: string } }>({
      message: `${restaurant} has tables for ${guests}. When?`,
      requestedSchema: {
        type: 'object',
        properties: { at: { type: 'string', enum: ['18:00', '20:30'] } },
        required: ['at'],
      },
    })
    const at = answer.content?.at
    await message(at ? `${restaurant} expects ${guests} guests at ${at}.` : 'Nothing was booked.')
  },
})

const server = createAgentServer({ agents: { book }, faces: [mcp({ tasks: { afterMs: 2_000 } })] })
await serve(server, { port: Number(PORT) })
