import { Hono } from 'hono'
import { toHono } from '../../adapters/hono.ts'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { createAgentServer, defineAgent, type HandlerContext } from '../../src/index.ts'
import { agents as greeters } from '../a2a/clients/agents.ts'
import { functions } from '../conformance/audited/agents.ts'
import { graphs } from '../conformance/audited/graphs.ts'

const quiet = { authenticate: () => ({ id: 'everybody' }), onError() {} }
const { graph, plain } = greeters

/** Says more than the buffers of a connection hold. */
const flood = defineAgent({
  async run({ custom }) {
    for (let n = 0; n < 400; n++) await custom({ n, payload: 'x'.repeat(25_000) })
  },
})

/** The options that put both faces of a server below a path. */
export const below = (basePath: string) => ({
  threads: { basePath },
  a2a: { basePath, push: { allowLoopback: true } },
})

/** What every runtime serves: functions below `/functions` and, through Hono, `/hono`; graphs below `/graphs`. */
export function mounts() {
  const ofFunctions = { agents: { ...functions, greeter: plain!, flood }, ...quiet }
  const own = createAgentServer({ ...ofFunctions, ...below('/functions') })
  const agents = Object.fromEntries(Object.entries(graphs()).map(([id, graph]) => [id, langgraph(graph)]))
  const ofGraphs = createAgentServer({
    agents: { ...agents, greeter: graph!, flood },
    ...quiet,
    ...below('/graphs'),
  })
  const app = new Hono().route('/hono', toHono(createAgentServer({ ...ofFunctions, ...below('') })))
  return async (request: Request, context?: HandlerContext): Promise<Response> =>
    (await own.handle(request, context)) ??
    (await ofGraphs.handle(request, context)) ??
    app.fetch(request, context)
}
