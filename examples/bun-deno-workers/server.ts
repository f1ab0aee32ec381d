/**
 * Bun and Deno both serve the `fetch` of a module's default export: `bun server.ts`,
 * `deno serve --allow-all server.ts`
 */
import { createAgentServer } from 'agentwire'
import { agents } from './agents.ts'

const { fetch } = createAgentServer({ agents })

export default { fetch: (request: Request) => fetch(request), hostname: '127.0.0.1' }
