import { AgentwireError } from '../../core/errors.ts'
import { once } from '../../core/lazy.ts'
import { createGate } from '../coordination/gate.ts'
import { createDeadline, type Deadline } from '../deadline.ts'
import { UnavailableError } from '../errors.ts'
import type { SqlStatement } from '../sql/list-documents.ts'
import type { Names } from './names.ts'
import {
  AS_TEXT,
  type Connections,
  hostOf,
  keepsStatements,
  lostStatements,
  nameOf,
  type PostgresPoolClient,
  type Row,
} from './pool.ts'
import { createWrites, isRetriable, isUsable, toUnavailable, type WritingFunction } from './writes.ts'

export interface CallOptions {
  /**
   * Whether the statement writes. If its response is lost, it is unknown whether it was executed. Default
   * false.
   */
  readonly mutates?: boolean | undefined
  readonly signal?: AbortSignal | undefined
  /** Called right before the statement is sent: it sees everything that was committed before. */
  readonly onSend?: (() => void) | undefined
  /**
   * The server parses and plans the statement once per connection. Use it for a small number of texts, whose
   * plan fits any values. Default false.
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
  const { assertOpen, enter, leave, close } = createGate()
  let opened: Connections | undefined

  async function track<T>(work: () => Promise<T>): Promise<T> {
    enter()
    try {
      return await work()
    } finally {
      leave()
    }
  }

  const connections = once(async () => {
    opened = await connect()
    if (opened.pool.listenerCount('error') === 0) opened.pool.on('error', ignoreIdle)
    return opened
  })
  const setup = once(() => track(() => migrateBy(connections, names)))
  const send = createSend(connections, names, deadlineMs)
  const writes = createWrites((text, values, options) => send(setup, text, values, options), deadlineMs)

  async function run(text: string, values: readonly unknown[], options?: CallOptions): Promise<Row[]> {
    assertOpen()
    return track(() => send(setup, text, values, options))
  }

  return {
    names,
    deadlineMs,
    assertOpen,
    /**
     * Runs one statement as its own transaction, within the time limit. `Names.fill` replaces names in
     * braces. Throws `UnavailableError`.
     */
    run,
    /** Calls one of our functions. A result without a name is the column `value`. */
    call: (name: string, values: readonly unknown[], options?: CallOptions) =>
      run(`SELECT * FROM {${name}}(${values.map((_, i) => `$${i + 1}`)}) AS value`, values, {
        ...options,
        prepared: true,
      }),
    /**
     * Calls one of our functions that write, together with other writes to the same place: see
     * `createWrites`.
     */
    async write(place: string, name: WritingFunction, values: readonly unknown[]): Promise<Row> {
      assertOpen()
      return track(() => writes(place, name, values))
    },
    /** Like `run`, without calling `setup` first. */
    async peek(text: string, values: readonly unknown[] = []): Promise<Row[]> {
      assertOpen()
      return track(() => send(undefined, text, values))
    },
    createClient: async () => (await connections()).createClient(),
    async setup() {
      assertOpen()
      await setup()
    },
    /** Rejects further calls, and resolves when active calls have ended. */
    close,
    /** Closes the connections that the user does not own. */
    async end() {
      await opened?.end()
    },
  }
}

type Connect = () => Promise<Connections>

async function migrateBy(connections: Connect, names: Names): Promise<void> {
  const deadline = createDeadline(MIGRATION_DEADLINE_MS)
  // The text of the tables and functions is long, and is needed only once.
  const { migrate } = await import('./migrate.ts')
  await withClient(connections, deadline, true, (client) => migrate(client, names))
}

async function acquire(connections: Connect, deadline: Deadline): Promise<PostgresPoolClient> {
  const made = await connections()
  const { pool } = made
  // In a function of its own, because a pool throws synchronously if the address cannot be parsed.
  const waiting = (async () => pool.connect())()
  try {
    return await deadline.race(waiting)
  } catch (cause) {
    if (!deadline.isOver) {
      throw new UnavailableError(`Postgres cannot be reached${hostOf(made)}.`, { written: 'no', cause })
    }
    // The pool may still return a connection, which is not used.
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
  connections: Connect,
  deadline: Deadline,
  mutates: boolean,
  work: (client: PostgresPoolClient) => Promise<T>,
): Promise<T> {
  const client = await acquire(connections, deadline)
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

/** Sends statements, each as a transaction of its own, when `ready` has settled. */
function createSend(connections: Connect, names: Names, deadlineMs: number) {
  const known = new Map<string, { readonly text: string; readonly name: string }>()

  /** A statement, by its text before names are filled in. */
  function preparable(text: string) {
    const found = known.get(text)
    if (found) return found
    const filled = names.fill(text)
    const made = { text: filled, name: nameOf(filled) }
    known.set(text, made)
    return made
  }

  return async function send(
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
        return await withClient(connections, deadline, mutates, async (client) => {
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
        // The transaction lost against another one and wrote nothing, so it is retried.
        if (!(error instanceof UnavailableError && isRetriable(error.cause))) throw error
      }
    }
  }
}

/** With Postgres placeholders: `$1`, `$2`, … */
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

/** The first call waits for the migration. A slow migration continues without it. */
async function within(deadline: Deadline, ready: Promise<void>): Promise<void> {
  try {
    await deadline.race(ready)
  } catch (error) {
    if (!deadline.isOver) throw error
    throw new UnavailableError('Postgres was not ready in time.', { written: 'no', cause: error })
  }
}

/**
 * The pool drops connections that fail while idle, and running statements reject. But an `error` event
 * without a listener ends the process.
 */
function ignoreIdle(): void {}
