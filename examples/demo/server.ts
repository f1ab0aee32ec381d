import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import {
  createAgentServer,
  type OwnEngineOptions,
  type ServerOptions,
  type WebHandler,
} from '../../src/index.ts'
import { echoAgent } from './echo.ts'
import { approvalAgent, deepAgent } from './graphs.ts'
import type { Models } from './models.ts'
import { site } from './site.ts'

const AGENTS = [
  {
    id: 'agent',
    description:
      'A deep agent with two subagents: a researcher with a few pages to search, and a math-whiz with a calculator.',
    examples: ['What is 12 * (3 + 4), and what is a checkpoint?', 'Research coffee', 'Tell me a story'],
  },
  {
    id: 'approval',
    description: 'An agent that writes letters and asks you before it sends one.',
    examples: ['Email ada@example.com that lunch is at noon'],
  },
  {
    id: 'echo',
    description: 'A plain function that repeats what you say, and asks you when you tell it to.',
    examples: ['Hello, echo', 'Ask me'],
  },
]

/** What the demo keeps its threads in, how it speaks A2A, and what deploys agents. Default: memory, and nothing. */
type Settings = Pick<OwnEngineOptions, 'store' | 'checkpointer'> & Pick<ServerOptions, 'a2a' | 'controlPlane'>

/** The demo as one handler: the agents first, and the page where no route of theirs matches. */
export function createDemo(
  models: Models,
  { store, checkpointer, a2a, controlPlane }: Settings = {},
): WebHandler {
  const server = createAgentServer({
    agents: {
      agent: langgraph(deepAgent(models)),
      approval: langgraph(approvalAgent(models)),
      echo: echoAgent(),
    },
    defaultAgent: 'agent',
    store,
    checkpointer,
    a2a,
    controlPlane,
  })
  const page = site({ model: models.label, agents: AGENTS })
  const handle: WebHandler['handle'] = async (request, context) =>
    (await server.handle(request, context)) ?? page(request)
  return {
    ...server,
    handle,
    fetch: async (request, context) => (await handle(request, context)) ?? server.fetch(request, context),
  }
}
