import type { AgentServer } from '../../src/server.ts'
import type { Connection, Database } from './database.ts'
import type { Program } from './load.ts'
import type { Plan } from './plan.ts'
import type { Process, World } from './world.ts'

/** One life of a server: from its start to its end. */
export interface Instance {
  readonly process: Process
  readonly server: AgentServer
  readonly connection: Connection
  /** Called when it is lost. */
  readonly onDeath: Set<() => void>
}

/** Gets a line of what a process does. */
export type Trace = (process: string, line: string | (() => string)) => void

interface ClusterOptions {
  readonly world: World
  readonly database: Database
  readonly program: () => Program
  readonly plan: Plan
  readonly trace: Trace
  /** Gets the errors that servers report. */
  readonly onError: (error: unknown) => void
}

export interface Reply {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: answers of every route
  readonly body: any
}

export interface Asked {
  readonly method: string
  readonly path: string
  readonly owner: string
  readonly body?: unknown
  readonly key?: string | undefined
}

/** The instances of a server over one database, and the network between them and their clients. */
export function createCluster(options: ClusterOptions) {
  const { world, database, program, plan, trace, onError } = options
  const { leaseTtlMs, runs, size, skewMs } = plan
  const network = world.process('network')
  const { random } = network
  const slots: (Instance | undefined)[] = []
  const connections: Connection[] = []
  const processes: Process[] = []
  let births = 0

  function start(slot: number): void {
    const process = world.process(`p${slot}.${++births}`, Math.round(random.between(-skewMs, skewMs)))
    processes.push(process)
    trace(process.name, `starts, its clock is off by ${process.skewMs} ms`)
    world.after(0, process, () => {
      const connection = database.connect(process, trace)
      connections.push(connection)
      const server = program().start({
        name: process.name,
        store: connection.store,
        checkpointer: connection.checkpointer,
        leaseTtlMs,
        cancelGraceMs: 1_000,
        runs,
        onError(error) {
          trace(process.name, `reports ${(error as Error)?.name}: ${(error as Error)?.message}`)
          onError(error)
        },
      })
      slots[slot] = { process, server, connection, onDeath: new Set() }
    })
  }

  function lose(instance: Instance, how: string): void {
    trace(instance.process.name, how)
    instance.process.isDead = true
    slots[slots.indexOf(instance)] = undefined
    for (const told of [...instance.onDeath]) told()
  }

  const delay = (): number => random.between(0.1, 5)

  /** Sends a request to an instance. Undefined where the connection breaks before the answer. */
  function exchange(
    instance: Instance,
    client: Process,
    { method, path, owner, body, key }: Asked,
    patienceMs: number,
  ): Promise<Reply | undefined> {
    return new Promise((resolve) => {
      const leaving = new AbortController()
      const end = (reply: Reply | undefined): void => {
        cancel()
        instance.onDeath.delete(broken)
        resolve(reply)
      }
      const broken = (): void => void world.after(delay(), client, () => end(undefined))
      const cancel = world.after(patienceMs, client, () => {
        world.after(delay(), instance.process, () => leaving.abort())
        end(undefined)
      })
      instance.onDeath.add(broken)
      world.after(delay(), instance.process, async () => {
        const response = await instance.server.fetch(
          new Request(`http://server.test${path}`, {
            method,
            headers: {
              'x-owner': owner,
              ...(body !== undefined && { 'content-type': 'application/json' }),
              ...(key !== undefined && { 'idempotency-key': key }),
            },
            signal: leaving.signal,
            ...(body !== undefined && { body: JSON.stringify(body) }),
          }),
        )
        // The body of a long answer breaks off where the server closes.
        const text = await response.text().catch(() => undefined)
        world.after(delay(), client, () =>
          end(text === undefined ? undefined : { status: response.status, body: bodyOf(text) }),
        )
      })
    })
  }

  /** Reads a stream piece by piece until it breaks or its client leaves. Gives the status of HTTP. */
  function stream(
    instance: Instance,
    client: Process,
    { path, owner, body }: Asked,
    take: (text: string) => void,
    left: AbortSignal,
    pieceMs: () => number,
  ): Promise<number | undefined> {
    return new Promise((resolve) => {
      const leaving = new AbortController()
      let isEnded = false
      const end = (status: number | undefined): void => {
        isEnded = true
        instance.onDeath.delete(broken)
        left.removeEventListener('abort', leave)
        resolve(status)
      }
      const leave = (): void => {
        world.after(delay(), instance.process, () => leaving.abort())
        end(undefined)
      }
      if (left.aborted) return end(undefined)
      left.addEventListener('abort', leave)
      const broken = (): void => void world.after(delay(), client, () => end(undefined))
      instance.onDeath.add(broken)
      world.after(delay(), instance.process, async () => {
        const response = await instance.server.fetch(
          new Request(`http://server.test${path}`, {
            method: 'POST',
            headers: { 'x-owner': owner, 'content-type': 'application/json' },
            body: JSON.stringify(body),
            signal: leaving.signal,
          }),
        )
        const over = (status: number | undefined) => void world.after(delay(), client, () => end(status))
        if (response.status !== 200) {
          await response.body?.cancel()
          return over(response.status)
        }
        const decoder = new TextDecoder()
        const reader = response.body!.getReader()
        try {
          for (;;) {
            const { value, done } = await reader.read()
            if (done) return over(undefined)
            const text = decoder.decode(value, { stream: true })
            // The next piece is read when the client has this one, as over a socket that is full.
            const goesOn = await new Promise<boolean>((received) =>
              world.after(pieceMs(), client, () => {
                if (!isEnded) take(text)
                world.after(delay(), instance.process, () => received(!isEnded))
              }),
            )
            if (!goesOn) return reader.cancel().catch(() => {})
          }
        } catch {
          over(undefined)
        }
      })
    })
  }

  return {
    network,
    births: (): number => births,
    /** Lets those go on that were stopped, also while they close. */
    resume(): void {
      for (const process of processes) if (process.isStopped) world.resume(process)
    },
    /** How many calls of the database all instances have made. */
    calls: (): number => connections.reduce((sum, one) => sum + one.calls(), 0),
    start,
    startAll(): void {
      for (let slot = 0; slot < size; slot++) if (!slots[slot]) start(slot)
    },
    alive: (): readonly Instance[] => slots.filter((one): one is Instance => one !== undefined),
    lose,
    /** Closes an instance as `SIGTERM` does, which hands its runs over. It is gone afterwards. */
    close(instance: Instance): void {
      const { process, server } = instance
      trace(process.name, 'closes')
      slots[slots.indexOf(instance)] = undefined
      world.after(0, process, async () => {
        await server.close()
        process.isDead = true
        trace(process.name, 'is closed')
        for (const told of [...instance.onDeath]) told()
      })
    },
    exchange,
    stream,
  }
}

const bodyOf = (text: string): unknown => (text === '' ? undefined : JSON.parse(text))

export type Cluster = ReturnType<typeof createCluster>
