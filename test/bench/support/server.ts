import { fork } from 'node:child_process'
import { install } from '../../../.ci/installed.mjs'
import { buildServers, VENDORS } from './build.ts'

/** A server in a process of its own, so that its CPU time and memory are its own. */
export interface Server {
  readonly port: number
  readonly pid: number
  /** Calls a function of the process, over its own channel and not its port. */
  call<Result = void>(method: string, params?: unknown): Promise<Result>
  /** Microseconds of CPU time, in user and system, that the process has used. */
  cpu(): Promise<number>
  /** What the process holds after a collection, in bytes. */
  memory(): Promise<Memory>
  stop(): Promise<void>
}

export interface Memory {
  readonly rss: number
  /** Used heap plus what the heap holds outside of it. */
  readonly held: number
}

export type ServerName =
  | 'ours'
  | 'embed'
  | 'bare'
  | 'bare-storage'
  | 'a2a-sdk'
  | 'a2a-bare'
  | 'control-plane'
  | 'invoke-bare'
  | 'langgraph-dev'

type Reply = { readonly id: number } & (
  | { readonly result: unknown; readonly error?: undefined }
  | { readonly error: string }
)

/** Starts a server. `storageUrl` names the storage of its threads, which is memory by default. */
export async function startServer(name: ServerName, storageUrl = 'memory:'): Promise<Server> {
  if (VENDORS.includes(name)) install(['test/vendors'])
  const child = fork((await buildServers())[name]!, {
    execArgv: ['--expose-gc', '--enable-source-maps', ...profiling(name)],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: {
      ...process.env,
      LANGSMITH_TRACING: 'false',
      LANGCHAIN_TRACING_V2: 'false',
      LOG_LEVEL: 'error',
      STORAGE_URL: storageUrl,
    },
  })
  const waiting = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>()
  let calls = 0
  const exited = new Promise<void>((resolve) => {
    child.once('exit', (code) => {
      for (const { reject } of waiting.values()) reject(new Error(`Server ${name} ended with code ${code}.`))
      resolve()
    })
  })
  child.on('message', (reply: Reply) => {
    const call = waiting.get(reply.id)
    waiting.delete(reply.id)
    if (reply.error === undefined) call?.resolve(reply.result)
    else call?.reject(new Error(`Server ${name}: ${reply.error}`))
  })
  const call = <Result>(method: string, params?: unknown): Promise<Result> =>
    new Promise((resolve, reject) => {
      const id = ++calls
      waiting.set(id, { resolve: (result) => resolve(result as Result), reject })
      child.send({ id, method, params })
    })
  return {
    port: await call<number>('port'),
    pid: child.pid!,
    call,
    cpu: () => call('cpu'),
    memory: () => call('memory'),
    stop() {
      if (child.connected) child.disconnect()
      return exited
    },
  }
}

/** `BENCH_PROFILE=<folder>` writes a CPU profile of every server there. */
function profiling(name: ServerName): string[] {
  const folder = process.env.BENCH_PROFILE
  return folder
    ? [
        '--cpu-prof',
        `--cpu-prof-dir=${folder}`,
        `--cpu-prof-name=${name}-${process.hrtime.bigint()}.cpuprofile`,
      ]
    : []
}

/** Starts servers, gives them to `use`, and ends them whether that succeeds or fails. */
export async function withServers<const Names extends readonly ServerName[], Result>(
  names: Names,
  use: (...servers: { [At in keyof Names]: Server }) => Promise<Result>,
  storageUrl?: string,
): Promise<Result> {
  const servers = await Promise.all(names.map((name) => startServer(name, storageUrl)))
  try {
    return await use(...(servers as { [At in keyof Names]: Server }))
  } finally {
    await Promise.all(servers.map((server) => server.stop()))
  }
}
