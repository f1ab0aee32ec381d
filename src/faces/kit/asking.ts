import type { Call } from '../../core/http/index.ts'
import { later } from '../../core/lazy.ts'
import { accessOf, reaches } from '../../core/principal.ts'
import { noSuchThread } from '../../engine/errors.ts'
import {
  type AgentEngine,
  internalsOf,
  lookAtThread,
  type RunRequest,
  recordIn,
  retryConflicts,
  type ServedEngine,
} from '../../engine/index.ts'
import { type Authorize, permit, type ReadSent, type ThreadResource } from './access.ts'
import { threadMetadata } from './thread-metadata.ts'

const runToEnd = /* @__PURE__ */ later(() => import('../../engine/answers/run-to-end.ts'), 'runToEnd')

/** An answer of `authorize` to a route that starts a run. */
interface Asked {
  readonly resource: ThreadResource
  readonly sent: ReadSent
  readonly answer: ReturnType<Authorize>
}

interface Asking {
  readonly engine: ServedEngine
  readonly authorize: Authorize | undefined
}

/** What a call's context was made of. A message over a socket is a call of its own. */
const origins = new WeakMap<object, Asking>()

/** An engine for runs that the server starts itself, whose permission was asked for before. */
export const unasked = (engine: ServedEngine): AgentEngine => engine as AgentEngine

/** A call whose engine asks `authorize`. */
interface AskingCall {
  readonly engine: AgentEngine
  readonly call: Pick<Call, 'principal' | 'json'>
  /** Remembers what it was asked about runs. */
  readonly authorize: Authorize
  readonly asked: readonly Asked[]
}

/**
 * The context for one call, whose engine starts runs. It asks `authorize` about the agent and the assistant
 * that really run, whatever the request named, so that no route can start or answer a run without it. What the
 * route has asked in this call is not asked again.
 */
export function asking<Context extends Asking>(
  context: Context,
  call: Pick<Call, 'principal' | 'json'>,
): Context & { readonly engine: AgentEngine } {
  const { engine: served, authorize } = origins.get(context.engine) ?? context
  const engine = unasked(served)
  if (!authorize) return { ...context, engine }
  const asked: Asked[] = []
  const remembering: Authorize = (principal, action, resource, sent) => {
    const answer = authorize(principal, action, resource, sent)
    if (action === 'runs:create') asked.push({ resource, sent, answer })
    return answer
  }
  const asks = askingEngine({ engine, call, authorize: remembering, asked })
  origins.set(asks, { engine, authorize })
  return { ...context, authorize: remembering, engine: asks }
}

type RunFields = Omit<RunRequest, 'input'>
type Follow = Parameters<AgentEngine['follow']>[0]

interface Starts {
  readonly start?: Partial<RunRequest> | undefined
  readonly respond?: Partial<RunRequest> | undefined
}

function askingEngine(of: AskingCall): AgentEngine {
  const { engine } = of
  const follow = ({ start, respond, ...rest }: Follow & Starts) => {
    const { threadId, principal } = rest
    const followed = (run: object) => engine.follow({ ...rest, ...run } as Follow)
    if (start) return starting(of, { ...start, threadId, principal }, (run) => followed({ start: run }))
    if (respond) return starting(of, { ...respond, threadId, principal }, (run) => followed({ respond: run }))
    return followed({})
  }
  const start: AgentEngine['start'] = (request) => starting(of, request, (run) => engine.start(run))
  const respond: AgentEngine['respond'] = (request) => starting(of, request, (run) => engine.respond(run))
  const run: AgentEngine['run'] = (request) => runToEnd(asks, request)
  // A host's own view of an engine may have the methods from its prototype, which a copy would lose.
  const own = { start, respond, follow, run }
  const asks: AgentEngine = Object.assign(Object.create(engine) as AgentEngine, own)
  return asks
}

/** Starts a run on the thread as it was asked about. */
function starting<Run extends RunFields, Result>(
  of: AskingCall,
  run: Run,
  start: (run: Run) => Promise<Result>,
): Promise<Result> {
  if (run.looked || run.isNewThread) return permitted(of, run).then(start)
  const { threadId, principal, command, answer } = run
  const query = { threadId, principal, command, answerId: answer?.id, saved: false }
  return retryConflicts(async () =>
    start(await permitted(of, { ...run, looked: await lookAtThread(of.engine, query) })),
  )
}

/** The run with the agent that was asked about: the engine rejects it for a thread of another one. */
async function permitted<Run extends RunFields>(of: AskingCall, run: Run): Promise<Run> {
  const { engine } = of
  const { aliases, defaultAgent } = internalsOf(engine)
  const { threadId, settingsFrom } = run
  // Also one that the caller cannot see, because a route may start its own run with other access.
  const thread = run.looked && recordIn(run.looked)
  const named = run.assistantId ?? thread?.assistantId ?? defaultAgent
  // The engine rejects it.
  if (named === undefined) return run
  const assistantId = aliases.get(named) ?? named
  const limits = [await ask(of, threadId, assistantId, !thread)]
  if (settingsFrom !== undefined) limits.push(await ask(of, threadId, settingsFrom, !thread))
  if (thread && !limits.every(({ principal }) => reaches(accessOf(principal), thread)))
    throw noSuchThread(threadId)
  const { metadata } = (limits[0]!.fields ?? {}) as Pick<RunRequest, 'metadata'>
  const ofThread = metadata && { metadata: { ...run.metadata, ...threadMetadata(engine, metadata) } }
  return { ...run, assistantId, ...ofThread }
}

function ask(
  { call, authorize, asked }: AskingCall,
  threadId: string,
  assistantId: string,
  isNewThread: boolean,
) {
  const known = asked.find(
    ({ resource }) =>
      resource.assistantId === assistantId &&
      (resource.threadId === threadId || (isNewThread && resource.threadId === undefined)),
  )
  const sent = asked.at(-1)?.sent ?? call.json
  const answer = known ? () => known.answer : authorize
  return permit(answer, call, 'runs:create', { threadId, assistantId }, sent)
}
