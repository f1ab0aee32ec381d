/** Serves the agents of the conformance suite until it is stopped. Prints the URL. */
import { serve } from '../../../adapters/node.ts'
import { mcp } from '../../../src/faces/mcp/index.ts'
import { createAgentServer } from '../../../src/index.ts'
import { agents } from './agents.ts'

const server = createAgentServer({
  agents,
  // A call that is not done then is a task.
  faces: [mcp({ tasks: { afterMs: 200, pollIntervalMs: 100 } })],
  onError: () => {},
})
const { origin } = await serve(server, { port: Number(process.argv[2] ?? 0), silent: true })
console.log(`${origin}/mcp`)
