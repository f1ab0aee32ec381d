import { createMcpHandler, Server } from '@modelcontextprotocol/server'
import { HttpError, isLocalHost, SSE_FRAMING, streamResponse } from '../../core/http/index.ts'
import { VERSION } from '../../core/version.ts'
import type { FaceCall } from '../kit/routes.ts'
import { answerQuestion, callTool, type ToolParams } from './calls.ts'
import { noTasks, protocolError } from './errors.ts'
import { type Fields, type McpCall, type McpContext, TASKS, takesTasks } from './options.ts'
import { cancelTask, getTask, updateTask } from './tasks.ts'
import { ANSWER_TOOL, listTools } from './tools.ts'

/** `POST /mcp`: one request of either era. Each request gets its own server, so no client state is kept. */
export async function postMcp(context: McpContext, call: FaceCall): Promise<Response> {
  refuseForeignOrigin(context, call)
  const parsedBody = await call.json()
  const { method } = Object(parsedBody) as { readonly method?: unknown }
  const handler = createMcpHandler(({ era }) => serverOf(context, call, era === 'modern'), {
    // A call may take long. Its stream sends bytes from the start, so that no proxy closes it.
    responseMode: method === 'tools/call' ? 'sse' : 'auto',
    keepAliveMs: 0, // Its comments end with a blank line: see SSE_FRAMING.
  })
  const { headers } = call.request
  const request = new Request(call.url, { method: 'POST', headers, signal: call.signal ?? null })
  return withHeartbeats(await handler.fetch(request, { parsedBody }))
}

/** The same stream with this server's heartbeats. Other responses are not changed. */
function withHeartbeats(response: Response): Response {
  const { body, headers } = response
  if (!body || !headers.get('content-type')?.startsWith('text/event-stream')) return response
  const reader = body.getReader()
  const source = {
    next: async () => (await reader.read()).value,
    // A stream that has failed cannot be cancelled.
    cancel: () => void reader.cancel().catch(() => {}),
  }
  return streamResponse(source, { ...SSE_FRAMING, headers: Object.fromEntries(headers) })
}

/** Any params. Handlers validate the ones that they use. */
const PARAMS = {
  params: {
    '~standard': {
      version: 1,
      vendor: 'agentwire',
      validate: (value: unknown) => ({ value: Object(value) }),
    },
  },
} as const

function serverOf(context: McpContext, call: FaceCall, isModern: boolean): Server {
  const { name = 'agentwire', instructions, tasks } = context.options
  const hasTasks = isModern && tasks !== false
  const server = new Server(
    { name, version: VERSION },
    {
      capabilities: { tools: {}, ...(hasTasks && { extensions: { [TASKS]: {} } }) },
      ...(instructions !== undefined && { instructions }),
    },
  )

  /** Answers a request, or throws an error that the client may see. */
  const answering =
    <Params, Result>(answer: (asked: McpCall, params: Params) => Promise<Result>) =>
    async (params: Params, { mcpReq: request }: { readonly mcpReq: McpCall['request'] }): Promise<Result> => {
      const asked: McpCall = { context, call, request, isModern }
      try {
        return await answer(asked, params)
      } catch (error) {
        throw request.signal.aborted ? error : protocolError(asked, error)
      }
    }

  const list = answering(listTools)
  const callAny = answering((asked: McpCall, params: ToolParams) => {
    const answersQuestion = params.name === ANSWER_TOOL && context.options.answers !== false
    return (answersQuestion ? answerQuestion : callTool)(asked, params)
  })
  // The package validates what is sent, so our types can differ from the package's.
  server.setRequestHandler('tools/list', (_, ctx) => list(undefined, ctx) as Promise<never>)
  server.setRequestHandler('tools/call', ({ params }, ctx) => callAny(params, ctx) as Promise<never>)
  if (!hasTasks) return server
  for (const [method, answer] of TASK_METHODS) {
    const ofTask = answering(async (asked: McpCall, params: Fields) => {
      if (!takesTasks(asked)) throw noTasks()
      return answer(asked, params)
    })
    server.setRequestHandler(method, PARAMS, (params, ctx) => ofTask(params as Fields, ctx) as Promise<never>)
  }
  return server
}

const TASK_METHODS = [
  ['tasks/get', getTask],
  ['tasks/update', updateTask],
  ['tasks/cancel', cancelTask],
] as const

/**
 * Throws 403 for a page of another origin, unless the page is on this machine or `http.cors` lists its
 * origin. If callers need no authentication, an origin with the server's own host name is rejected too,
 * because of DNS rebinding: a page can make its own host name resolve to this machine. Programs other than
 * browsers send no Origin header.
 */
function refuseForeignOrigin(
  { isGuarded, allowsOrigin }: McpContext,
  { request, url, principal }: Pick<FaceCall, 'request' | 'url' | 'principal'>,
): void {
  const origin = request.headers.get('origin')
  if (origin === null || allowsOrigin(origin)) return
  const page = URL.canParse(origin) ? new URL(origin) : undefined
  if (page && isLocalHost(page.hostname)) return
  if (page && (isGuarded || principal) && page.host === url.host) return
  throw new HttpError(
    403,
    'origin_not_allowed',
    'Pages of this origin may not call this server. Add the origin to http.cors.',
  )
}
