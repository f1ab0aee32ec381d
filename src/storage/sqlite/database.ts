import { AgentwireError } from '../../core/errors.ts'
import { sleep } from '../../core/time.ts'
import { closed, UnavailableError } from '../errors.ts'
import {
  type Connection,
  createConnection,
  isBusy,
  type SqliteDatabase,
  toUnavailable,
} from './connection.ts'
import { configure, isMigrated, migrate, type Synchronous } from './migrate.ts'

interface WriteOptions {
  readonly signal?: AbortSignal | undefined
  /** Whether the write comes before waiting writes that are not urgent. Default false. */
  readonly isUrgent?: boolean
}

export type Database = ReturnType<typeof createDatabase>

interface DatabaseOptions {
  readonly open: () => Promise<SqliteDatabase>
  /** Whether `close` closes what `open` returned. */
  readonly owned: boolean
  readonly prefix: string
  readonly synchronous: Synchronous
  readonly deadlineMs: number
}

/**
 * How long the driver itself waits for a lock, in milliseconds. That blocks the event loop, so most waiting
 * is done outside of the driver.
 */
const BUSY_MS = 10
const PAUSE_MS = 4

export function createDatabase(options: DatabaseOptions) {
  const { prefix, deadlineMs } = options
  let opening: Promise<Connection> | undefined
  let opened: SqliteDatabase | undefined
  let connection: Connection | undefined
  let closing: Promise<void> | undefined
  /** Writes run one at a time, urgent ones first. */
  const waiting = { urgent: [] as (() => void)[], other: [] as (() => void)[] }
  let isWriting = false

  async function enter(isUrgent: boolean): Promise<void> {
    if (isWriting) await new Promise<void>((begin) => waiting[isUrgent ? 'urgent' : 'other'].push(begin))
    isWriting = true
  }

  function leave(): void {
    const next = waiting.urgent.shift() ?? waiting.other.shift()
    if (next) next()
    else isWriting = false
  }

  function assertOpen(): void {
    if (closing) throw closed()
  }

  /** Retries until no other connection holds the lock, or the time is up. */
  async function attempt<T>(end: number, work: () => T, signal?: AbortSignal | undefined): Promise<T> {
    for (;;) {
      if (signal?.aborted) {
        throw new UnavailableError('The commit was aborted.', { written: 'no', cause: signal.reason })
      }
      try {
        return work()
      } catch (error) {
        if (error instanceof AgentwireError) throw error
        if (!isBusy(error)) throw toUnavailable(error, false)
        if (performance.now() >= end) throw busyTooLong(error)
      }
      await sleep(PAUSE_MS)
      assertOpen()
    }
  }

  async function connect(): Promise<Connection> {
    try {
      opened ??= await options.open()
    } catch (error) {
      throw error instanceof AgentwireError ? error : toUnavailable(error, false)
    }
    return createConnection(opened, prefix)
  }

  async function open(end: number): Promise<Connection> {
    const made = await connect()
    await attempt(end, () => configure(made, BUSY_MS, options.synchronous))
    if (!(await attempt(end, () => isMigrated(made, prefix)))) {
      await attempt(end, () => transaction(made, 'BEGIN IMMEDIATE', () => migrate(made, prefix)))
    }
    connection = made
    return made
  }

  function ready(end: number): Promise<Connection> {
    opening ??= open(end).catch((error: unknown) => {
      opening = undefined
      throw error
    })
    return opening
  }

  const deadline = () => performance.now() + deadlineMs

  async function read<T>(work: (connection: Connection) => T): Promise<T> {
    assertOpen()
    const end = deadline()
    const made = connection ?? (await ready(end))
    assertOpen()
    return attempt(end, () => work(made))
  }

  return {
    prefix,
    assertOpen,
    /** Undefined until the first call has opened it, and after it is closed. */
    get connection() {
      return closing ? undefined : connection
    },
    /** Runs one statement, or several that need no common snapshot. */
    read,
    /** Runs one statement without calling `setup` first. */
    async peek<T>(work: (connection: Connection) => T): Promise<T> {
      assertOpen()
      const end = deadline()
      const made = connection ?? (await connect())
      assertOpen()
      return attempt(end, () => work(made))
    },
    /** Runs statements on one snapshot of the database. */
    snapshot: <T>(work: (connection: Connection) => T): Promise<T> =>
      read((made) => transaction(made, 'BEGIN', () => work(made))),
    /** Runs statements atomically. Such calls run one at a time. */
    async write<T>(
      work: (connection: Connection) => T,
      { signal, isUrgent = false }: WriteOptions = {},
    ): Promise<T> {
      assertOpen()
      const end = deadline()
      await enter(isUrgent)
      try {
        const made = connection ?? (await ready(end))
        assertOpen()
        if (performance.now() >= end) throw busyTooLong()
        return await attempt(end, () => transaction(made, 'BEGIN IMMEDIATE', () => work(made)), signal)
      } finally {
        leave()
      }
    },
    async setup() {
      assertOpen()
      await ready(deadline())
    },
    close() {
      closing ??= (async () => {
        if (isWriting) await enter(false)
        // The caller that opened it has received this error.
        await opening?.catch(() => {})
        if (options.owned) opened?.close()
      })()
      return closing
    },
  }
}

function transaction<T>(connection: Connection, begin: string, work: () => T): T {
  connection.run(begin)
  let committing = false
  try {
    const result = work()
    committing = true
    connection.run('COMMIT')
    return result
  } catch (error) {
    const failure =
      error instanceof AgentwireError || isBusy(error) ? error : toUnavailable(error, committing)
    try {
      connection.run('ROLLBACK')
    } catch {
      // After some errors, SQLite has already rolled back, and there is nothing left to roll back.
    }
    throw failure
  }
}

function busyTooLong(cause?: unknown): UnavailableError {
  return new UnavailableError('SQLite: other connections kept the database locked until the deadline.', {
    written: 'no',
    cause,
  })
}
