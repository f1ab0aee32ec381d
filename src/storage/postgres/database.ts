import { AgentwireError } from '../../errors.ts'
import { createDeadline, type Deadline } from '../deadline.ts'
import { closed, UnavailableError } from '../errors.ts'
import { once } from '../once.ts'
import type { SqlStatement } from '../sql/statement.ts'
import type { Names } from './names.ts'
import { AS_TEXT, type Connections, hostOf, type PostgresPoolClient, type Row } from './pool.ts'
import { keepsStatements, lostStatements, nameOf } from './prepared.ts'
import { isRetriable, isUsable, toUnavailable } from './unavailable.ts'
import { createWrites, type WritingFunction } from './writes.ts'

export interface CallOptions {
  /** The statement writes, so it is not known whether it was done when its answer is lost. Default false. */
  readonly mutates?: boolean | undefined
  readonly signal?: AbortSignal | undefined
  /** Called right before the statement is sent: it sees all that was committed until now. */
  readonly onSend?: (() => void) | undefined
  /**
   * The server parses and plans it once a connection. For texts of which there are few, with one plan that fits
   * any values. Default false.
   */
  readonly prepared?: boolean | undefined
}

export type Database = ReturnType<typeof createDatabase>

interface DatabaseOptions {
  readonly names: Names
  readonly deadlineMs: number
  readonly connect: () => Promise<Connections>
}

const MIGRATION_DEADLINE_MS = 60_000

export function createDatabase({ names, deadlineMs, connect }: DatabaseOptions) {
  let isClosed = false
  let opened: Connections | undefined
  const running = new Set<Promise<unknown>>()

  function assertOpen(): void {
    if (isClosed) throw closed()
  }

  const connections = once(async () => {
    opened = await connect()
    if (opened.pool.listenerCount('error') === 0) opened.pool.on('error', ignoreIdle)
    return opened
  })

  const known = new Map<string, { readonly text: string; readonly name: string }>()

  /** A statement by its text before names are filled in. */
  function preparable(text: string) {
    const found = known.get(text)
    if (found) return found
    const filled = names.fill(text)
    const made = { text: filled, name: nameOf(filled) }
    known.set(text, made)
    return made
  }

  async function acquire(deadline: Deadline): Promise<PostgresPoolClient> {
    const made = await connections()
    const { pool } = made
    // In a function of its own, because a pool throws at once when the address cannot be parsed.
    const waiting = (async () => pool.connect())()
    try {
      return await deadline.race(waiting)
    } catch (cause) {
      if (!deadline.isOver) {
        throw new UnavailableError(`Postgres cannot be reached${hostOf(made)}.`, { written: 'no', cause })
      }
      // The pool may still give a connection, which nothing uses any more.
      waiting.then(
        (client) => client.release(),
        () => {},
      )
      throw new UnavailableError(
        `Timed out connecting to Postgres${hostOf(made)}: it is unreachable, or the pool is exhausted.`,
        { written: 'no', cause },
      )
    }
  }

  async function withClient<T>(
    deadline: Deadline,
    mutates: boolean,
    work: (client: PostgresPoolClient) => Promise<T>,
  ): Promise<T> {
    const client = await acquire(deadline)
    client.on('error', ignoreIdle)
    let destroy = false
    try {
      return await deadline.race(work(client))
    } catch (error) {
      destroy = !isUsable(error)
      throw error instanceof AgentwireError ? error : toUnavailable(error, mutates)
    } finally {
      client.removeListener('error', ignoreIdle)
      client.release(destroy)
    }
  }

  const setup = once(() =>
    track(async () => {
      const deadline = createDeadline(MIGRATION_DEADLINE_MS)
      // The text of the tables and the functions is long, and is needed once.
      const { migrate } = await import('./migrate.ts')
      await withClient(deadline, true, (client) => migrate(client, names))
    }),
  )

  async function send(
    ready: (() => Promise<void>) | undefined,
    text: string,
    values: readonly unknown[],
    {
      mutates = false,
      signal,
      onSend,
      prepared = false,
      ms = deadlineMs,
    }: CallOptions & { ms?: number } = {},
  ): Promise<Row[]> {
    const deadline = createDeadline(ms, signal)
    if (ready) await within(deadline, ready())
    const statement = prepared ? preparable(text) : { text: names.fill(text) }
    const query = { ...statement, values: [...values], types: AS_TEXT }
    const unnamed = { ...query, name: undefined }
    for (;;) {
      try {
        return await withClient(deadline, mutates, async (client) => {
          const isNamed = prepared && (await keepsStatements(client))
          onSend?.()
          try {
            return (await client.query(isNamed ? query : unnamed)).rows as Row[]
          } catch (error) {
            if (!isNamed || !lostStatements(client, error)) throw error
            return (await client.query(unnamed)).rows as Row[]
          }
        })
      } catch (error) {
        // The transaction lost to another one and wrote nothing, so it is retried.
        if (!(error instanceof UnavailableError && isRetriable(error.cause))) throw error
      }
    }
  }

  const writes = createWrites((text, values, options) => send(setup, text, values, options), deadlineMs)

  async function track<T>(work: () => Promise<T>): Promise<T> {
    const promise = work()
    running.add(promise)
    try {
      return await promise
    } finally {
      running.delete(promise)
    }
  }

  async function run(text: string, values: readonly unknown[], options?: CallOptions): Promise<Row[]> {
    assertOpen()
    return track(() => send(setup, text, values, options))
  }

  return {
    names,
    deadlineMs,
    assertOpen,
    /**
     * Runs one statement as its own transaction, within the deadline, with names in braces as `Names.fill`
     * reads them. Throws `UnavailableError`.
     */
    run,
    /** Calls a function of ours. A result without a name is the column `value`. */
    call: (name: string, values: readonly unknown[], options?: CallOptions) =>
      run(`SELECT * FROM {${name}}(${values.map((_, i) => `$${i + 1}`)}) AS value`, values, {
        ...options,
        prepared: true,
      }),
    /** Calls a function of ours that writes, together with what else is written in the place: see `createWrites`. */
    async write(place: string, name: WritingFunction, values: readonly unknown[]): Promise<Row> {
      assertOpen()
      return track(() => writes(place, name, values))
    },
    /** As `run`, without setting anything up before. */
    async peek(text: string, values: readonly unknown[] = []): Promise<Row[]> {
      assertOpen()
      return track(() => send(undefined, text, values))
    },
    createClient: async () => (await connections()).createClient(),
    async setup() {
      assertOpen()
      await setup()
    },
    /** Refuses further calls, and settles when those under way have ended. */
    async close() {
      isClosed = true
      await Promise.allSettled(running)
    },
    /** Ends the connections that are not the user's. */
    async end() {
      await opened?.end()
    },
  }
}

/** With `$1`, `$2`, … as Postgres has them. */
export function numbered({
  text,
  values,
}: SqlStatement<unknown>): [text: string, values: readonly unknown[]] {
  let count = 0
  return [text.replace(/\?/g, () => `$${++count}`), values]
}

export function readNumbers(array: string): number[] {
  return array === '{}' ? [] : array.slice(1, -1).split(',').map(Number)
}

/** The first call waits for the migration; a migration that takes long goes on without it. */
async function within(deadline: Deadline, ready: Promise<void>): Promise<void> {
  try {
    await deadline.race(ready)
  } catch (error) {
    if (!deadline.isOver) throw error
    throw new UnavailableError('Postgres was not ready in time.', { written: 'no', cause: error })
  }
}

/**
 * The pool drops connections that break while idle, and running statements reject, but an `error` event
 * without a listener ends the process.
 */
function ignoreIdle(): void {}
