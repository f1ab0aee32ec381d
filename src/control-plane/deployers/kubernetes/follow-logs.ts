import { pause } from '../../../time.ts'
import { DeployError, type LogLevel } from '../deployer.ts'
import type { KubernetesApi, KubernetesObject } from './api.ts'
import { containersOf } from './pods.ts'
import { AGENT_CONTAINER } from './resource-spec.ts'

export interface Followed {
  readonly api: KubernetesApi
  readonly workload: string
  /** Of its pods. */
  readonly labels: Readonly<Record<string, string>>
  readonly log: (line: string, level?: LogLevel) => void
  readonly signal: AbortSignal
  /** How often new servers are looked for, in milliseconds. */
  readonly lookMs: number
}

/** How many servers are followed at once, and how much of a line is kept. */
const MAX_FOLLOWED = 50
const MAX_LINE_LENGTH = 16_384

/** The log of one run of a container. */
interface Stream {
  isOpen: boolean
  /** When its last line was logged. A stream that was cut off is continued from there. */
  last?: string
  /** The problem that was logged last. */
  problem?: string
}

/**
 * Copies what the servers of a workload log into the deployment's own log, until the signal aborts or the
 * servers have stopped. Servers that are started later are found, and broken streams are continued. Never
 * rejects.
 */
export async function followLogs(followed: Followed): Promise<void> {
  const { api, workload, labels, log, signal, lookMs } = followed
  const streams = new Map<string, Stream>()
  const open = new Set<Promise<void>>()
  let wasAway = false
  while (!signal.aborted) {
    try {
      const running = runningOf(await api.list('Pod', labels))
      // Another instance may have stopped it.
      if (running.size === 0 && isStopped(await api.find('Deployment', workload))) break
      for (const key of streams.keys()) if (!running.has(key)) streams.delete(key)
      for (const [key, pod] of running) {
        const stream = streams.get(key) ?? { isOpen: false }
        streams.set(key, stream)
        if (stream.isOpen || open.size >= MAX_FOLLOWED) continue
        stream.isOpen = true
        const reading = read(followed, pod, stream).finally(() => {
          stream.isOpen = false
          open.delete(reading)
        })
        open.add(reading)
      }
      wasAway = false
    } catch (error) {
      if (signal.aborted) break
      if (!wasAway) log(`The servers' logs cannot be read at the moment: ${messageOf(error)}`, 'WARNING')
      wasAway = true
    }
    await pause(lookMs, signal)
  }
  await Promise.all(open)
}

const isStopped = (deployment: KubernetesObject<'Deployment'> | undefined): boolean =>
  deployment === undefined || deployment.spec?.replicas === 0

/** The pods whose agent runs, by a key that differs for each run of a container. */
function runningOf(pods: readonly KubernetesObject<'Pod'>[]): ReadonlyMap<string, string> {
  const running = new Map<string, string>()
  for (const pod of pods)
    for (const { name, state, restartCount = 0 } of containersOf(pod))
      if (name === AGENT_CONTAINER && state?.running)
        running.set(`${pod.metadata.uid ?? pod.metadata.name} ${restartCount}`, pod.metadata.name)
  return running
}

/** Reads a log until it ends or breaks. The next look continues it. */
async function read({ api, log, signal }: Followed, pod: string, stream: Stream): Promise<void> {
  const from = stream.last
  const query = {
    container: AGENT_CONTAINER,
    follow: 'true',
    timestamps: 'true',
    ...(from !== undefined && { sinceTime: from }),
  }
  try {
    const response = await api.log(pod, query)
    if (!response?.body) return
    for await (const line of linesOf(response.body)) {
      const [, at, text] = /^(\S+) (.*)$/s.exec(line) ?? []
      // `sinceTime` is read in whole seconds.
      if (at === undefined || text === undefined || (from !== undefined && at <= from)) continue
      stream.last = at
      log(text)
    }
  } catch (error) {
    // A cut connection needs no warning, unlike a refusal of the API server.
    if (signal.aborted || !(error instanceof DeployError) || error.message === stream.problem) return
    stream.problem = error.message
    log(error.message, 'WARNING')
  }
}

/** The lines of a stream, each cut to a bound. */
async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const bytes of body) {
    const pieces = (rest + decoder.decode(bytes, { stream: true })).split('\n')
    rest = pieces.pop()!.slice(0, MAX_LINE_LENGTH)
    for (const piece of pieces) yield piece.slice(0, MAX_LINE_LENGTH)
  }
  if (rest !== '') yield rest
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
