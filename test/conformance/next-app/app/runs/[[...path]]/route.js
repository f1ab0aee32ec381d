import { interrupt, MessagesAnnotation, StateGraph } from '@langchain/langgraph'
import { createAgentServer, defineAgent, langgraph, toNext } from '../../../.tmp/agentwire.mjs'

const graph = new StateGraph(MessagesAnnotation)
  .addNode('ask', async () => ({ messages: [{ role: 'ai', content: String(interrupt('sure?')) }] }))
  .addEdge('__start__', 'ask')
  .compile()
const greeter = defineAgent({ run: async ({ message }) => void (await message('hi')) })
const server = createAgentServer({
  agents: { graph: langgraph(graph), greeter },
  authenticate: () => ({ id: 'ann' }),
})

export const dynamic = 'force-dynamic'
export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = toNext(server, { basePath: '/runs' })
