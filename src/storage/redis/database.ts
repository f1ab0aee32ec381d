import { AgentwireError } from '../../errors.ts'
import { UnavailableError } from '../errors.ts'
import { createDeadline, type Deadline } from '../postgres/deadline.ts'
import type { Argument, Line, Receive } from './client.ts'
import type { Keys } from './keys.ts'
import type { Script } from './script.ts'
import { isNoScript, toUnavailable } from './unavailable.ts'

export interface Call {
  readonly script: Script
  /** In a cluster all of them must be in one slot. */
  readonly keys: readonly string[]
  readonly args?: readonly Argument[] | undefined
  /** It writes: when the answer is lost, nobody knows whether it was done. Default false. */
  readonly mutates?: boolean | undefined
  readonly signal?: AbortSignal | undefined
}

export interface Database {
  readonly keys: Keys
  readonly isCluster: boolean
  readonly deadlineMs: number
  /** Runs one script within the deadline. Throws `UnavailableError`. Strings in the answer are bytes. */
  run(call: Call): Promise<unknown>
  /** Sends one command that says nothing about a partition. */
  send(command: readonly string[], key?: string): Promise<unknown>
  /** Work that only `close` waits for. What it leaves undone must do no harm. */
  later(work: () => Promise<unknown>): void
  createLine(receive: Receive): Promise<Line>
  setup(): Promise<void>
  assertOpen(): void
  /** Refuses further calls, and settles when those under way have ended. */
  close(): Promise<void>
}

export interface DatabaseOptions {
  readonly keys: Keys
  readonly isCluster: boolean
  readonly deadlineMs: number
  readonly createLine: (receive?: Receive) => Promise<Line>
  /** What must be done once before the first call. */
  readonly prepare: (send: Database['send']) => Promise<void>
}

/** A line in use. One that did not answer in time gets no new calls, and is closed when those on it have ended. */
interface Used {
  readonly line: Line
  calls: number
  isRetired: boolean
}

export function createDatabase({
  keys,
  isCluster,
  deadlineMs,
  createLine,
  prepare,
}: DatabaseOptions): Database {
  let used: Used | undefined
  let opening: Promise<Used> | undefined
  let preparing: Promise<void> | undefined
  let isPrepared = false
  let closed = false
  const running = new Set<Promise<unknown>>()

  function assertOpen(): void {
    if (closed) throw new UnavailableError('The storage is closed.', { written: 'no' })
  }

  async function open(): Promise<Used> {
    const line = await createLine()
    const deadline = createDeadline(deadlineMs)
    try {
      await deadline.race(line.connect())
    } catch (cause) {
      line.close()
      throw new UnavailableError('Redis cannot be reached.', { written: 'no', cause })
    } finally {
      deadline.end()
    }
    const opened: Used = { line, calls: 0, isRetired: false }
    void line.ended.then(() => retire(opened))
    used = opened
    return opened
  }

  function retire(old: Used): void {
    old.isRetired = true
    if (used === old) used = undefined
    if (old.calls === 0) old.line.close()
  }

  function acquire(): Promise<Used> {
    opening ??= open().finally(() => {
      opening = undefined
    })
    return opening
  }

  async function transmit(
    deadline: Deadline,
    mutates: boolean,
    work: (line: Line) => Promise<unknown>,
  ): Promise<unknown> {
    const on = used ?? (await within(deadline, acquire()))
    on.calls += 1
    try {
      return await deadline.race(work(on.line))
    } catch (error) {
      if (deadline.isOver) retire(on)
      throw toUnavailable(error, mutates)
    } finally {
      on.calls -= 1
      if (on.isRetired && on.calls === 0) on.line.close()
    }
  }

  async function inTime<T>(
    signal: AbortSignal | undefined,
    work: (deadline: Deadline) => Promise<T>,
  ): Promise<T> {
    const deadline = createDeadline(deadlineMs, signal)
    try {
      return await work(deadline)
    } finally {
      deadline.end()
    }
  }

  const send: Database['send'] = (command, key) =>
    inTime(undefined, (deadline) => transmit(deadline, false, (line) => line.send(key, command)))

  function prepared(): Promise<void> {
    preparing ??= prepare(send).then(
      () => {
        isPrepared = true
      },
      (error: unknown) => {
        preparing = undefined
        throw error
      },
    )
    return preparing
  }

  function evaluate({ script, keys, args = [], mutates = false, signal }: Call): Promise<unknown> {
    const rest = [String(keys.length), ...keys, ...args]
    const [key] = keys
    return inTime(signal, async (deadline) => {
      if (!isPrepared) await within(deadline, prepared())
      return transmit(deadline, mutates, async (line) => {
        try {
          return await line.send(key, ['EVALSHA', script.sha, ...rest])
        } catch (error) {
          if (!isNoScript(error)) throw error
          return line.send(key, ['EVAL', script.text, ...rest])
        }
      })
    })
  }

  async function track<T>(promise: Promise<T>): Promise<T> {
    running.add(promise)
    try {
      return await promise
    } finally {
      running.delete(promise)
    }
  }

  return {
    keys,
    isCluster,
    deadlineMs,
    createLine,
    assertOpen,
    async run(call) {
      assertOpen()
      return track(evaluate(call))
    },
    async send(command, key) {
      assertOpen()
      return track(send(command, key))
    },
    later(work) {
      if (closed) return
      track(work()).catch(() => {})
    },
    async setup() {
      assertOpen()
      await track(prepared())
    },
    async close() {
      closed = true
      await Promise.allSettled(running)
      used?.line.close()
    },
  }
}

/** What was waited for had not begun to write. */
async function within<T>(deadline: Deadline, ready: Promise<T>): Promise<T> {
  try {
    return await deadline.race(ready)
  } catch (error) {
    if (error instanceof AgentwireError) throw error
    throw new UnavailableError('Redis was not ready in time.', { written: 'no', cause: error })
  }
}
