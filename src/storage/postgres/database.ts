import { AgentwireError } from '../../errors.ts'
import { createDeadline, type Deadline } from '../deadline.ts'
import { UnavailableError } from '../errors.ts'
import type { SqlStatement } from '../sql/statement.ts'
import { migrate } from './migrate.ts'
import type { Names } from './names.ts'
import { AS_TEXT, type Connections, hostOf, type PostgresClient, type PostgresPoolClient } from './pool.ts'
import { isRetriable, isUsable, toUnavailable } from './unavailable.ts'

/** Every column as text. */
export type Row = Record<string, string | null>

export interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
  /** The statement writes, so it is not known whether it was done when its answer is lost. Default false. */
  readonly mutates?: boolean | undefined
  readonly signal?: AbortSignal | undefined
  /** Called right before the statement is sent: it sees all that was committed until now. */
  readonly onSend?: (() => void) | undefined
}

export interface Database {
  readonly names: Names
  readonly deadlineMs: number
  /** Runs one statement as its own transaction, within the deadline. Throws `UnavailableError`. */
  run(statement: Statement): Promise<Row[]>
  /** The same without setting anything up before. */
  peek(statement: Statement): Promise<Row[]>
  createClient(): Promise<PostgresClient>
  setup(): Promise<void>
  assertOpen(): void
  /** Refuses further calls, and settles when those under way have ended. */
  close(): Promise<void>
  /** Ends the connections that are not the user's. */
  end(): Promise<void>
}

interface DatabaseOptions {
  readonly names: Names
  readonly deadlineMs: number
  readonly connect: () => Promise<Connections>
}

const MIGRATION_DEADLINE_MS = 60_000

export function createDatabase({ names, deadlineMs, connect }: DatabaseOptions): Database {
  let connecting: Promise<Connections> | undefined
  let migrating: Promise<void> | undefined
  let closed = false
  const running = new Set<Promise<unknown>>()

  function assertOpen(): void {
    if (closed) throw new UnavailableError('The storage is closed.', { written: 'no' })
  }

  function connections(): Promise<Connections> {
    connecting ??= connect().then(
      (made) => {
        if (made.pool.listenerCount('error') === 0) made.pool.on('error', ignoreIdle)
        return made
      },
      (error: unknown) => {
        connecting = undefined
        throw error
      },
    )
    return connecting
  }

  async function acquire(deadline: Deadline): Promise<PostgresPoolClient> {
    const made = await connections()
    const { pool } = made
    // In a function of its own, because a pool throws at once when the address cannot be parsed.
    const waiting = (async () => pool.connect())()
    try {
      return await deadline.race(waiting)
    } catch (error) {
      if (!deadline.isOver) {
        throw new UnavailableError(`Postgres cannot be reached${hostOf(made)}.`, {
          written: 'no',
          cause: error,
        })
      }
      // The pool may still give a connection, which nothing uses any more.
      waiting.then(
        (client) => client.release(),
        () => {},
      )
      throw new UnavailableError(
        `No connection to Postgres${hostOf(made)} in time: it is away, or the pool is exhausted.`,
        { written: 'no', cause: error },
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

  async function send(statement: Statement, deadline: Deadline): Promise<Row[]> {
    const { text, values, mutates = false, onSend } = statement
    for (;;) {
      try {
        return await withClient(deadline, mutates, async (client) => {
          onSend?.()
          const query = { text, values: [...values], types: AS_TEXT }
          return (await client.query(query)).rows as Row[]
        })
      } catch (error) {
        // The transaction lost to another one and wrote nothing, so it is retried.
        if (!(error instanceof UnavailableError && isRetriable(error.cause))) throw error
      }
    }
  }

  function setup(): Promise<void> {
    migrating ??= track(async () => {
      const deadline = createDeadline(MIGRATION_DEADLINE_MS)
      try {
        await withClient(deadline, true, (client) => migrate(client, names))
      } catch (error) {
        migrating = undefined
        throw error
      }
    })
    return migrating
  }

  async function call(statement: Statement, ready: () => Promise<void>): Promise<Row[]> {
    assertOpen()
    return track(async () => {
      const deadline = createDeadline(deadlineMs, statement.signal)
      await within(deadline, ready())
      return send(statement, deadline)
    })
  }

  async function track<T>(work: () => Promise<T>): Promise<T> {
    const promise = work()
    running.add(promise)
    try {
      return await promise
    } finally {
      running.delete(promise)
    }
  }

  return {
    names,
    deadlineMs,
    assertOpen,
    run: (statement) => call(statement, setup),
    peek: (statement) => call(statement, async () => {}),
    async createClient() {
      return (await connections()).createClient()
    },
    async setup() {
      assertOpen()
      await setup()
    },
    async close() {
      closed = true
      await Promise.allSettled(running)
    },
    async end() {
      if (!connecting) return
      const { end } = await connecting
      await end()
    },
  }
}

/** With `$1`, `$2`, … as Postgres has them. */
export function numbered({ text, values }: SqlStatement<unknown>): Statement {
  let count = 0
  return { text: text.replace(/\?/g, () => `$${++count}`), values }
}

/** `{1,2}` */
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
