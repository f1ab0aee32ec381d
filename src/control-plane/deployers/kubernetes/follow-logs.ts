import { pause } from '../../../core/time.ts'
import { DeployError, type LogLevel } from '../deployer.ts'
import type { KubernetesApi, KubernetesObject } from './api.ts'
import { AGENT_CONTAINER } from './resource-spec.ts'
import { containersOf } from './rollout.ts'

export interface Followed {
  readonly api: KubernetesApi
  readonly workload: string
  /** The labels of its pods. */
  readonly labels: Readonly<Record<string, string>>
  readonly log: (line: string, level?: LogLevel) => void
  readonly signal: AbortSignal
  /** How often to look for new servers, in milliseconds. */
  readonly lookMs: number
}

/** The maximum number of followed servers, and the maximum length of a line. */
const MAX_FOLLOWED = 50
const MAX_LINE_LENGTH = 16_384

/** The log of one container run. */
interface Stream {
  isOpen: boolean
  /** The time of its last line. An interrupted stream continues from there. */
  last?: string
  /** The last logged problem. */
  problem?: string
}

/**
 * Copies the log lines of a workload's servers to the deployment's own log, until the signal aborts or the
 * servers have stopped. It finds servers that start later, and continues interrupted streams. Never rejects.
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

/** The pods with a running agent, by a key that differs for each container run. */
function runningOf(pods: readonly KubernetesObject<'Pod'>[]): ReadonlyMap<string, string> {
  const running = new Map<string, string>()
  for (const pod of pods)
    for (const { name, state, restartCount = 0 } of containersOf(pod))
      if (name === AGENT_CONTAINER && state?.running)
        running.set(`${pod.metadata.uid ?? pod.metadata.name} ${restartCount}`, pod.metadata.name)
  return running
}

/** Reads a log until it ends or is interrupted. The next look continues it. */
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
    // An interrupted connection needs no warning, but a rejection by the API server does.
    if (signal.aborted || !(error instanceof DeployError) || error.message === stream.problem) return
    stream.problem = error.message
    log(error.message, 'WARNING')
  }
}

/** The lines of a stream, each truncated to a limit. */
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
