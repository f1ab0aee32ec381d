import { AgentwireError } from '../../core/errors.ts'
import { once } from '../../core/lazy.ts'
import { createGate, type Gate } from '../coordination/gate.ts'
import { inTime, Late } from '../deadline.ts'
import { closed, UnavailableError } from '../errors.ts'
import type { Argument, Connection, Receive, Script } from './connection.ts'
import type { Keys } from './keys.ts'

interface Call {
  readonly script: Script
  /** In a cluster, all keys must be in one slot. */
  readonly keys: readonly string[]
  readonly args?: readonly Argument[] | undefined
  /**
   * Whether the call writes. If its response is lost, it is unknown whether it was executed. Default false.
   */
  readonly mutates?: boolean | undefined
  readonly signal?: AbortSignal | undefined
}

export type Database = ReturnType<typeof createDatabase>

export type Send = (command: readonly string[], key?: string) => Promise<unknown>

interface DatabaseOptions {
  readonly keys: Keys
  readonly isCluster: boolean
  readonly deadlineMs: number
  readonly createConnection: (receive?: Receive) => Promise<Connection>
  readonly prepare: (send: Send) => Promise<void>
}

export function createDatabase(options: DatabaseOptions) {
  const { keys, isCluster, deadlineMs, createConnection } = options
  const gate = createGate()
  const { assertOpen, enter, leave } = gate
  const connections = createConnections(createConnection, deadlineMs, assertOpen)
  const link: Link = { gate, connections, deadlineMs }
  let isPrepared = false

  const prepare = once(async () => {
    await options.prepare(send)
    isPrepared = true
  })

  async function prepareAndAcquire(): Promise<Connection> {
    await prepare()
    return connections.used ?? connections.acquire()
  }

  const send: Send = ([name, ...args], key) =>
    transmit(link, connections.used ?? connections.acquire, {}, key, name!, args)

  return {
    keys,
    isCluster,
    deadlineMs,
    createConnection,
    assertOpen,
    /**
     * Runs one script within the time limit. Throws `UnavailableError`. Strings in the response are bytes.
     */
    run(call: Call): Promise<unknown> {
      if (gate.isClosed()) return Promise.reject(closed())
      const { script, keys, args = [] } = call
      const ready = (isPrepared && connections.used) || prepareAndAcquire
      return transmit(link, ready, call, keys[0], 'EVALSHA', [
        script.sha,
        String(keys.length),
        ...keys,
        ...args,
      ])
    },
    /** Sends one command that does not concern a partition. */
    async send(...command: Parameters<Send>) {
      assertOpen()
      return send(...command)
    },
    /** Starts work that only `close` waits for. It must be harmless if it is not completed. */
    later(work: () => Promise<unknown>): void {
      if (gate.isClosed()) return
      enter()
      work().then(leave, leave)
    },
    async setup() {
      assertOpen()
      await prepare()
    },
    /** Rejects further calls, and resolves when active calls have ended. */
    async close() {
      const allEnded = gate.close()
      connections.giveUp()
      await allEnded
      connections.close()
    },
  }
}

interface Link {
  readonly gate: Gate
  readonly connections: ReturnType<typeof createConnections>
  readonly deadlineMs: number
}

/** Every call goes through this function, so it has few steps. */
async function transmit(
  { gate, connections, deadlineMs }: Link,
  ready: Connection | (() => Promise<Connection>),
  { signal, mutates = false, script }: Partial<Call>,
  key: string | undefined,
  command: string,
  args: readonly Argument[],
): Promise<unknown> {
  let on: Connection | undefined
  let ms = deadlineMs
  gate.enter()
  try {
    if (typeof ready === 'function') {
      const begun = performance.now()
      on = await readyInTime(deadlineMs, signal, ready())
      ms -= performance.now() - begun
    } else {
      on = ready
    }
    try {
      return await inTime(ms, signal, on.send(key, command, args))
    } catch (error) {
      if (!script || !isNoScript(error)) throw error
      return await inTime(ms, signal, on.send(key, 'EVAL', [script.text, ...args.slice(1)]))
    }
  } catch (error) {
    if (on && error instanceof Late) connections.retire(on)
    throw error instanceof AgentwireError ? error : toUnavailable(error, mutates)
  } finally {
    gate.leave()
  }
}

/** Opens a connection when the one in use has ended or timed out. */
function createConnections(
  create: DatabaseOptions['createConnection'],
  deadlineMs: number,
  assertOpen: () => void,
) {
  /**
   * Open connections and those being opened. A connection that timed out gets no new calls, and is closed
   * when its calls have ended.
   */
  const all = new Set<Connection>()
  let connecting: Connection | undefined
  let opening: Promise<Connection> | undefined

  async function open(): Promise<Connection> {
    const connection = await create()
    all.add(connection)
    void connection.ended.then(() => {
      all.delete(connection)
      if (connections.used === connection) connections.used = undefined
    })
    try {
      assertOpen()
      connecting = connection
      const ended = connection.ended.then(() => Promise.reject(new Error('The connection ended.')))
      await inTime(deadlineMs, undefined, Promise.race([connection.connect(), ended]))
    } catch (cause) {
      connection.close()
      throw new UnavailableError('Redis cannot be reached.', { written: 'no', cause })
    } finally {
      connecting = undefined
    }
    connections.used = connection
    return connection
  }

  const connections = {
    used: undefined as Connection | undefined,
    acquire(): Promise<Connection> {
      opening ??= open().finally(() => {
        opening = undefined
      })
      return opening
    },
    retire(connection: Connection): void {
      if (connections.used !== connection) return
      connections.used = undefined
      const timer = setTimeout(() => connection.close(), deadlineMs)
      void connection.ended.then(() => clearTimeout(timer))
    },
    /** Stops opening a connection. */
    giveUp: (): void => connecting?.close(),
    close(): void {
      for (const connection of all) connection.close()
    },
  }
  return connections
}

/** If this fails, nothing was written yet. */
async function readyInTime<T>(ms: number, signal: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  try {
    return await inTime(ms, signal, work)
  } catch (error) {
    if (error instanceof AgentwireError) throw error
    throw new UnavailableError('Redis was not ready in time.', { written: 'no', cause: error })
  }
}

/** Server errors start with a word in capitals; other errors do not. */
const ANSWER = /^-?[A-Z][A-Z0-9]+ /
/** Errors after which nothing was written, also inside a script's error. */
const REFUSED =
  /(^|-)(OOM|READONLY|MISCONF|LOADING|BUSY|MASTERDOWN|CLUSTERDOWN|NOREPLICAS|NOSCRIPT|NOAUTH|NOPERM|WRONGPASS|MOVED|ASK|TRYAGAIN|CROSSSLOT|UNKILLABLE) /

function toUnavailable(error: unknown, mutates: boolean): UnavailableError {
  const message = error instanceof Error ? error.message : String(error)
  if (!ANSWER.test(message)) {
    const written = mutates ? 'unknown' : 'no'
    return new UnavailableError('Redis did not answer.', { written, cause: error })
  }
  const written = mutates && !REFUSED.test(message) ? 'unknown' : 'no'
  return new UnavailableError(`Redis refused: ${message}`, { written, cause: error })
}

function isNoScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT')
}
