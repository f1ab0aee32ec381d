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
  const { enter, leave, isTaken } = createTurns()
  const opener = createOpener(options, assertOpen)
  let closing: Promise<void> | undefined

  function assertOpen(): void {
    if (closing) throw closed()
  }

  const deadline = () => performance.now() + deadlineMs

  async function readBy<T>(open: Opener['ready'], work: (connection: Connection) => T): Promise<T> {
    assertOpen()
    const end = deadline()
    const made = opener.connection ?? (await open(end))
    assertOpen()
    return attempt(end, assertOpen, () => work(made))
  }

  const read = <T>(work: (connection: Connection) => T): Promise<T> => readBy(opener.ready, work)

  return {
    prefix,
    assertOpen,
    /** Undefined until the first call has opened it, and after it is closed. */
    get connection() {
      return closing ? undefined : opener.connection
    },
    /** Runs one statement, or several that need no common snapshot. */
    read,
    /** Runs one statement without calling `setup` first. */
    peek: <T>(work: (connection: Connection) => T): Promise<T> => readBy(opener.connect, work),
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
        const made = opener.connection ?? (await opener.ready(end))
        assertOpen()
        if (performance.now() >= end) throw busyTooLong()
        const whole = () => transaction(made, 'BEGIN IMMEDIATE', () => work(made))
        return await attempt(end, assertOpen, whole, signal)
      } finally {
        leave()
      }
    },
    async setup() {
      assertOpen()
      await opener.ready(deadline())
    },
    close() {
      closing ??= (async () => {
        if (isTaken()) await enter(false)
        await opener.close()
      })()
      return closing
    },
  }
}

type Opener = ReturnType<typeof createOpener>

/** Opens and migrates the database once. */
function createOpener({ open, owned, prefix, synchronous }: DatabaseOptions, assertOpen: () => void) {
  let opening: Promise<Connection> | undefined
  let opened: SqliteDatabase | undefined

  async function connect(): Promise<Connection> {
    try {
      opened ??= await open()
    } catch (error) {
      throw error instanceof AgentwireError ? error : toUnavailable(error, false)
    }
    return createConnection(opened, prefix)
  }

  async function migrated(end: number): Promise<Connection> {
    const made = await connect()
    await attempt(end, assertOpen, () => configure(made, BUSY_MS, synchronous))
    if (!(await attempt(end, assertOpen, () => isMigrated(made, prefix)))) {
      await attempt(end, assertOpen, () => transaction(made, 'BEGIN IMMEDIATE', () => migrate(made, prefix)))
    }
    opener.connection = made
    return made
  }

  const opener = {
    /** Undefined until the database is ready. */
    connection: undefined as Connection | undefined,
    connect,
    ready(end: number): Promise<Connection> {
      opening ??= migrated(end).catch((error: unknown) => {
        opening = undefined
        throw error
      })
      return opening
    },
    async close(): Promise<void> {
      // The caller that opened it has received this error.
      await opening?.catch(() => {})
      if (owned) opened?.close()
    },
  }
  return opener
}

/** Writes run one at a time, urgent ones first. */
function createTurns() {
  const waiting = { urgent: [] as (() => void)[], other: [] as (() => void)[] }
  let isTaken = false
  return {
    isTaken: () => isTaken,
    async enter(isUrgent: boolean): Promise<void> {
      if (isTaken) await new Promise<void>((begin) => waiting[isUrgent ? 'urgent' : 'other'].push(begin))
      isTaken = true
    },
    leave(): void {
      const next = waiting.urgent.shift() ?? waiting.other.shift()
      if (next) next()
      else isTaken = false
    },
  }
}

/** Retries until no other connection holds the lock, or the time is up. */
async function attempt<T>(
  end: number,
  assertOpen: () => void,
  work: () => T,
  signal?: AbortSignal | undefined,
): Promise<T> {
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
