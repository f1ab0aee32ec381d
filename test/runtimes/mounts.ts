import { Hono } from 'hono'
import { toHono } from '../../adapters/hono.ts'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { createAgentServer, type HandlerContext } from '../../src/index.ts'
import { functions } from '../conformance/audited/agents.ts'
import { graphs } from '../conformance/audited/graphs.ts'

const quiet = { authenticate: () => ({ id: 'everybody' }), onError() {} }

/** What every runtime serves: functions below `/functions` and, through Hono, `/hono`; graphs below `/graphs`. */
export function mounts() {
  const own = createAgentServer({ agents: functions, threads: { basePath: '/functions' }, ...quiet })
  const agents = Object.fromEntries(Object.entries(graphs()).map(([id, graph]) => [id, langgraph(graph)]))
  const ofGraphs = createAgentServer({ agents, threads: { basePath: '/graphs' }, ...quiet })
  const app = new Hono().route('/hono', toHono(createAgentServer({ agents: functions, ...quiet })))
  return async (request: Request, context?: HandlerContext): Promise<Response> =>
    (await own.handle(request, context)) ?? (await ofGraphs.handle(request, context)) ?? app.fetch(request)
}
