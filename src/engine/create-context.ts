import type { Agent } from '../agents/agent.ts'
import { logError } from '../core/errors.ts'
import { uuid7 } from '../core/ids.ts'
import { later, lazy } from '../core/lazy.ts'
import { createKeyedSemaphore } from '../storage/coordination/keyed-semaphore.ts'
import { UnavailableError } from '../storage/errors.ts'
import { graphStoresOf } from '../storage/graph-store/index.ts'
import { memoryOnDemand } from '../storage/memory/on-demand.ts'
import type { Store } from '../storage/store/store.ts'
import type { ErrorReporter, RunContext } from './context.ts'
import { RunError } from './errors.ts'
import { errorMessageOf } from './failures.ts'
import { limitsOf, slotPolicy } from './limits.ts'
import { createLogWatchers } from './log/watchers.ts'
import { createObserver, type ServerEvent } from './observe.ts'
import type { AgentEngineOptions } from './options.ts'
import { createWakeUps } from './records/wake-ups.ts'
import { warnEphemeralStore } from './threads/savers.ts'

const startDue = /* @__PURE__ */ later(() => import('./execution/execute.ts'), 'startDue')

const LEASE_TTL_MS = 15_000
/** A lease in a store of a single process never needs to expire. */
const NO_EXPIRY_MS = 100 * 365 * 24 * 60 * 60 * 1_000

/**
 * The state of an engine: its options with defaults, and the state that its runs share. Throws `RunError`
 * `invalid_argument`.
 */
export function createContext(
  options: AgentEngineOptions,
  recover: (context: RunContext, threadId: string) => Promise<void>,
): RunContext {
  const agents = agentsOf(options?.agents)
  assertDefaultAgent(agents, options.defaultAgent)
  const aliases = aliasesOf(agents, options.aliases)
  const memory = lazy(memoryOnDemand)
  const unobserved = options.store ?? memory().store
  const checkpointer = options.checkpointer ?? memory().checkpointer
  const limits = limitsOf(options.limits)
  warnEphemeralStore(unobserved, { agents, checkpointer })
  const report = reporterOf(options.onError)
  const observe = createObserver(options.observe, (error) => report(error, {}))
  const { shared } = unobserved.capabilities
  const leaseTtlMs = options.leaseTtlMs ?? LEASE_TTL_MS
  // Leases are renewed this often.
  const watched = shared ? watchStore(unobserved, leaseTtlMs / 3, observe) : undefined
  const { store, wasAway } = watched ?? { store: unobserved, wasAway: () => false }
  // Created when a request needs them: Workers forbid both while a module is loaded.
  const instance = lazy(uuid7)
  const closing = lazy(() => new AbortController())
  const context: RunContext = {
    store,
    checkpointer,
    wasAway,
    storeNow: createStoreClock(store),
    graphStores: graphStoresOf(store, options.graphStore),
    agents,
    aliases,
    get defaultAgent() {
      const [first] = agents.keys()
      return options.defaultAgent ?? (agents.size === 1 ? first : undefined)
    },
    get instance() {
      return instance()
    },
    leaseTtlMs: shared ? leaseTtlMs : NO_EXPIRY_MS,
    retryForMs: shared ? leaseTtlMs : 0,
    cancelGraceMs: options.cancelGraceMs ?? 1_000,
    drainMs: options.drainMs ?? 0,
    limits,
    slots: createKeyedSemaphore(slotPolicy(limits)),
    waitingForSlot: new Map(),
    watchers: createLogWatchers(store),
    sweepMs: options.sweepMs ?? 60_000,
    recover: (threadId) => recover(context, threadId),
    wakeUps: createWakeUps((threadId) => void startDue(context, threadId)),
    active: new Map(),
    executing: new Map(),
    pending: new Set(),
    report,
    errorMessage: errorMessageOf(options.errorMessage),
    observe,
    get closing() {
      return closing()
    },
  }
  return context
}

/** Assigns an id to every error. A failing `onError` is ignored, because there is nowhere to report it. */
function reporterOf(onError: ErrorReporter = logError): RunContext['report'] {
  return (error, origin) => {
    const id = crypto.randomUUID()
    const call = async () => onError(error, { ...origin, id })
    call().catch(() => {})
    return id
  }
}

function agentsOf(given: AgentEngineOptions['agents'] | undefined): ReadonlyMap<string, Agent> {
  if (!globalThis.crypto) throw new RunError('not_supported', 'agentwire requires Node 20.20 or newer.')
  const agents = given instanceof Map ? given : new Map<string, Agent>(Object.entries(given ?? {}))
  if (agents.size === 0) throw new RunError('invalid_argument', 'The server needs at least one agent.')
  for (const [name, agent] of agents) {
    if (typeof agent?.getHistory === 'function') continue
    const message = `agents.${name} is not an agent (${typeof agent}): use langgraph(graph) or defineAgent({ run }).`
    throw new RunError('invalid_argument', message)
  }
  return agents
}

function aliasesOf(
  agents: ReadonlyMap<string, Agent>,
  given: AgentEngineOptions['aliases'] = {},
): ReadonlyMap<string, string> {
  for (const [name, id] of Object.entries(given)) {
    if (agents.has(id) && !agents.has(name)) continue
    const message = `aliases.${name}: ${agents.has(name) ? 'it is the name of an agent' : `unknown agent ${JSON.stringify(id)}`}.`
    throw new RunError('invalid_argument', message)
  }
  return new Map(Object.entries(given))
}

function assertDefaultAgent(agents: ReadonlyMap<string, Agent>, named: string | undefined): void {
  if (named === undefined || agents.has(named)) return
  throw new RunError('invalid_argument', `defaultAgent ${JSON.stringify(named)} is not one of the agents.`)
}

/** How long the offset of a store's clock is cached, in milliseconds. */
const KEPT_MS = 10_000

/**
 * The clock of a store, in milliseconds since 1970, for values that need not be read with a partition. A
 * shared store is asked from time to time, a store of this process on every call.
 */
function createStoreClock(store: Store): (partition: string) => Promise<number> {
  let known: { readonly now: number; readonly at: number } | undefined
  return async (partition) => {
    const passed = known ? performance.now() - known.at : KEPT_MS
    if (known && passed < KEPT_MS) return known.now + Math.round(passed)
    const { now } = await store.inspect(partition)
    if (store.capabilities.shared) known = { now, at: performance.now() }
    return now
  }
}

/** A store, and whether this process could reach it. */
export interface WatchedStore {
  readonly store: Store
  /**
   * Whether a call failed or was slow within the last `ms` milliseconds, so that other processes may not have
   * reached the store either.
   */
  wasAway(ms: number): boolean
}

/**
 * Wraps a store to report when it becomes unavailable and when it is available again. A call that takes
 * `slowMs` milliseconds is slow.
 */
export function watchStore(
  store: Store,
  slowMs: number,
  observe: (event: ServerEvent) => void,
): WatchedStore {
  let awaySince: number | undefined
  let lastAway = Number.NEGATIVE_INFINITY

  async function watched<Result>(call: Promise<Result>): Promise<Result> {
    const askedAt = performance.now()
    try {
      const result = await call
      const now = performance.now()
      if (now - askedAt >= slowMs) lastAway = now
      if (awaySince !== undefined) markAvailable()
      return result
    } catch (error) {
      if (error instanceof UnavailableError) wentAway(error)
      throw error
    }
  }

  function wentAway(error: unknown): void {
    lastAway = performance.now()
    if (awaySince !== undefined) return
    awaySince = Date.now()
    observe({ type: 'store.unavailable', error, at: awaySince })
  }

  function markAvailable(): void {
    const at = Date.now()
    const awayMs = at - awaySince!
    awaySince = undefined
    observe({ type: 'store.recovered', awayMs, at })
  }

  // All other calls go to the store itself, including the marker that identifies a checkpointer on the same
  // database.
  const proxy = new Proxy(store, {
    get(_, key) {
      const member: unknown = Reflect.get(store, key)
      if (typeof member !== 'function') return member
      return SYNCHRONOUS.has(key)
        ? member.bind(store)
        : (...args: unknown[]) => watched(member.apply(store, args) as Promise<unknown>)
    },
  })
  return { store: proxy, wasAway: (ms) => performance.now() - lastAway <= ms }
}

const SYNCHRONOUS: ReadonlySet<PropertyKey> = new Set(['watch', 'close'])
