import { type AgentDrawing, isOneStep } from '../../agents/description.ts'
import {
  type Call,
  HttpError,
  isJsonType,
  json,
  type Principal,
  type WebHandler,
} from '../../core/http/index.ts'
import { describeAssistant, resourceNamed } from '../../engine/assistants/index.ts'
import { internalsOf, type StoredConfig } from '../../engine/index.ts'
import { cancelRun } from '../../faces/kit/cancel-run.ts'
import {
  createFace,
  type EngineChoice,
  type FaceOptions,
  type FaceSetup,
  standalone,
} from '../../faces/kit/create-face.ts'
import { type FaceCall, type FaceRow, route } from '../../faces/kit/routes.ts'
import { runConfig } from '../../faces/kit/run-config.ts'
import { titleOf } from '../../faces/kit/title.ts'
import { isRecord } from '../../messages/record.ts'
import { DEVTOOLS_OPTIONS, type DevtoolsContext, type DevtoolsOptions } from './context.ts'
import type { CompiledPage } from './page/compiled.ts'
import { getServer, getStore, getWork } from './server.ts'
import { getCheckpoint, getCheckpoints, getLog, getThread, getThreads } from './threads.ts'
import type {
  AgentGraph,
  Answers,
  Breakpoints,
  Fork,
  GraphAnswer,
  InputAnswer,
  LayoutScript,
  NewRun,
  StartedRun,
} from './wire.ts'

/** `GET …/api/agents/{assistant_id}/graph`: with the nodes of all subgraphs. */
async function getGraph({ engine }: DevtoolsContext, call: FaceCall): Promise<Response> {
  const { description } = await describeAssistant(engine, call.principal, call.params.assistant_id!)
  const drawing = await description.drawing({ xray: true })
  return json({ graph: isOneStep(drawing) ? null : presentGraph(drawing) } satisfies GraphAnswer)
}

/** `GET …/api/agents/{assistant_id}/input`: the schema of the agent's input. */
async function getInput({ engine }: DevtoolsContext, call: FaceCall): Promise<Response> {
  const { description } = await describeAssistant(engine, call.principal, call.params.assistant_id!)
  const { input } = await description.schemas()
  return json({ schema: input } satisfies InputAnswer)
}

/** Omits the nodes' schemas and classes, which are larger than the rest. */
const presentGraph = ({ nodes, edges }: AgentDrawing): AgentGraph => ({
  nodes: nodes.map((node) => ({ id: String(node.id), tools: toolsOf(node) })),
  edges: edges.map(({ source, target, data, conditional = false }) => ({
    source,
    target,
    label: data ?? null,
    conditional,
  })),
})

/** LangChain's tool node has the names of its tools in its metadata. */
function toolsOf({ metadata }: AgentDrawing['nodes'][number]): readonly string[] {
  const names = metadata?.__tools
  return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : []
}

/** `GET /devtools`: the page, which asks the rest of this face for everything it shows. */
async function getPage(): Promise<Response> {
  const { html, scriptHash, styleHash, layout } = await compiled()
  return new Response(html, {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policyOf([scriptHash, layout.hash], styleHash),
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    },
  })
}

/** `GET …/api/layout`: the script that computes graph layouts, which the page loads when a graph is opened. */
const getLayout = async (): Promise<Response> =>
  json({ script: (await compiled()).layout.script } satisfies LayoutScript)

async function compiled(): Promise<CompiledPage> {
  const { PAGE } = await import('./page/compiled.ts')
  if (PAGE) return PAGE
  throw new HttpError(501, 'not_built', 'The page is compiled when the package is built: npm run build.')
}

const policyOf = (scripts: readonly string[], style: string): string =>
  [
    "default-src 'none'",
    `script-src ${scripts.map((hash) => `'${hash}'`).join(' ')}`,
    `style-src '${style}'`,
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

/** The devtools over HTTP: a page and its API. */
export const createDevtoolsGroup = (
  setup: FaceSetup,
  { basePath, isOperator = isOpen, prices = {} }: DevtoolsOptions = {},
): WebHandler =>
  createFace<DevtoolsContext>(setup, { basePath, routes: ROUTES, context: { isOperator, prices } })

/** Without authentication there is no principal, and everyone is permitted everything. */
const isOpen = (principal: Principal | null): boolean => principal === null

/** The resource for `authorize`. */
const agentOf = async ({ engine }: DevtoolsContext, { params }: Call) => ({
  assistantId: await resourceNamed(engine, params.assistant_id!),
})

const THREAD = '/devtools/api/threads/:thread_id'

const ROUTES: readonly FaceRow<DevtoolsContext>[] = [
  route('GET', '/devtools', { permission: 'threads:list', run: getPage }),
  route('GET', '/devtools/api/layout', { permission: 'threads:list', run: getLayout }),
  route('GET', '/devtools/api/server', { permission: 'threads:list', run: getServer }),
  route('GET', '/devtools/api/work', { permission: 'threads:list', run: getWork }),
  route('GET', '/devtools/api/store', { permission: 'threads:list', run: getStore }),
  route('GET', '/devtools/api/agents/:assistant_id/graph', {
    permission: 'assistants:read',
    resource: agentOf,
    run: getGraph,
  }),
  route('GET', '/devtools/api/agents/:assistant_id/input', {
    permission: 'assistants:read',
    resource: agentOf,
    run: getInput,
  }),
  route('GET', '/devtools/api/threads', { permission: 'threads:list', run: getThreads }),
  route('GET', THREAD, { permission: 'threads:read', run: getThread }),
  route('GET', `${THREAD}/log`, { permission: 'threads:stream', run: getLog }),
  route('GET', `${THREAD}/checkpoints`, { permission: 'threads:read', run: getCheckpoints }),
  route('GET', `${THREAD}/checkpoints/:checkpoint_id`, { permission: 'threads:read', run: getCheckpoint }),
  route('POST', `${THREAD}/runs`, { permission: 'runs:create', run: postRun }),
  route('POST', `${THREAD}/answers`, { permission: 'runs:create', run: postAnswers }),
  route('POST', `${THREAD}/forks`, { permission: 'runs:create', run: postFork }),
  route('POST', `${THREAD}/runs/:run_id/cancel`, { permission: 'runs:cancel', run: postCancel }),
]

/** The devtools handler alone, over an engine or the options for one. */
export const createDevtoolsHandler = (
  options: FaceOptions & EngineChoice & { readonly devtools?: DevtoolsOptions | undefined },
): WebHandler =>
  standalone('createDevtoolsHandler', options, { devtools: DEVTOOLS_OPTIONS }, (setup) =>
    createDevtoolsGroup(setup, options.devtools),
  )

/** `POST …/api/threads/{thread_id}/answers`: answers interrupts by starting a run that resumes them. */
async function postAnswers(context: DevtoolsContext, call: FaceCall): Promise<Response> {
  const { answers, ...rest } = (await bodyOf(call)) as Partial<Answers>
  if (!isRecord(answers) || Object.keys(answers).length === 0)
    throw invalid('answers: expected an object with at least one interrupt id.')
  const config = { configurable: {}, ...stopsOf(rest) }
  const { runId } = await context.engine.respond({ ...common(call), answers, config })
  return json({ run_id: runId } satisfies StartedRun)
}

/**
 * `POST …/api/threads/{thread_id}/runs`: starts a run of any agent. The thread is created if it does not
 * exist.
 */
async function postRun(context: DevtoolsContext, call: FaceCall): Promise<Response> {
  const { assistant_id: assistantId, input, config, ...rest } = (await bodyOf(call)) as Partial<NewRun>
  if (assistantId !== undefined && (typeof assistantId !== 'string' || assistantId === ''))
    throw invalid('assistant_id: expected a string that is not empty.')
  if (input === undefined) throw invalid('input: expected a value.')
  if (config !== undefined && !isRecord(config)) throw invalid('config: expected an object.')
  const stops = stopsOf(rest)
  const { engine } = context
  const { runId } = await engine.start({
    ...common(call),
    assistantId,
    input,
    title: titleOf(input),
    config: { ...runConfig(config, undefined, internalsOf(engine).limits), ...stops },
  })
  return json({ run_id: runId } satisfies StartedRun)
}

/** `POST …/api/threads/{thread_id}/forks`: starts a run from an earlier checkpoint. */
async function postFork(context: DevtoolsContext, call: FaceCall): Promise<Response> {
  const { checkpoint_id: checkpointId, input = null, ...rest } = (await bodyOf(call)) as Partial<Fork>
  if (typeof checkpointId !== 'string' || checkpointId === '')
    throw invalid('checkpoint_id: expected a string that is not empty.')
  const config = { configurable: {}, ...stopsOf(rest) }
  const run = { ...common(call), input, checkpointId, config, mustExist: true }
  const { runId } = await context.engine.start(run)
  return json({ run_id: runId } satisfies StartedRun)
}

/** `POST …/api/threads/{thread_id}/runs/{run_id}/cancel`: responds once the cancel is recorded. */
function postCancel(context: DevtoolsContext, call: FaceCall): Promise<Response> {
  assertJson(call)
  return cancelRun(context, call)
}

/** The fields of every request that starts a run. */
const common = (call: FaceCall) => ({
  threadId: call.threadId,
  principal: call.principal,
  request: call.request,
})

const stopsOf = ({
  interrupt_before: before,
  interrupt_after: after,
}: Breakpoints): Pick<StoredConfig, 'interruptBefore' | 'interruptAfter'> => ({
  interruptBefore: nodesOf('interrupt_before', before),
  interruptAfter: nodesOf('interrupt_after', after),
})

function nodesOf(name: string, value: unknown): '*' | readonly string[] | undefined {
  if (value === undefined || value === '*') return value
  if (Array.isArray(value) && value.every((node) => typeof node === 'string')) return value
  throw invalid(`${name}: expected "*" or a list of node names.`)
}

/**
 * A request without a body is checked too: a page of another origin can send one without a CORS preflight.
 */
function assertJson({ request }: FaceCall): void {
  if (isJsonType(request.headers.get('content-type'))) return
  throw new HttpError(415, 'unsupported_media_type', 'Send application/json.')
}

/** Validated by hand: two fields do not justify loading schemas. */
async function bodyOf(call: FaceCall): Promise<object> {
  assertJson(call)
  const body = await call.json()
  if (isRecord(body)) return body
  throw invalid('Expected an object.')
}

const invalid = (message: string): HttpError => new HttpError(400, 'invalid_argument', message)
