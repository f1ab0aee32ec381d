import type { Readable } from 'node:stream'
import { within } from '../../core/time.ts'
import { DeployError } from './deployer.ts'
import { type Ended, type SupervisedCommand, spawnSupervised } from './supervised.ts'

export interface RunCommandOptions extends Omit<SupervisedCommand, 'hasInput'> {
  readonly signal?: AbortSignal | undefined
  /**
   * Receives the lines of output, without line breaks. The lines of one stream arrive in order. If it throws,
   * the command is stopped and `runCommand` rejects.
   */
  readonly onLine?: ((line: string, stream: 'stdout' | 'stderr') => void) | undefined
  /** Default: no limit. */
  readonly timeoutMs?: number | undefined
  /** What the command reads from stdin. Default: nothing. */
  readonly input?: string | undefined
  /** A longer line is truncated, with a mark. In bytes. Default: 65536. */
  readonly maxLineBytes?: number | undefined
  /** The time between SIGTERM and SIGKILL when it has to stop, in milliseconds. Default: 5000. */
  readonly graceMs?: number | undefined
}

/**
 * Runs a command, without a shell, in its own process group, and resolves when none of its processes is
 * running. A command that fails is not an error: the result says how it ended. Rejects with the signal's
 * reason, and with a `DeployError` if the program cannot be started or takes longer than `timeoutMs`.
 */
export async function runCommand(options: RunCommandOptions): Promise<Ended> {
  const { signal, onLine = () => {}, timeoutMs, input, maxLineBytes = 65_536, graceMs = 5000 } = options
  signal?.throwIfAborted()
  const running = await spawnSupervised({ ...options, hasInput: input !== undefined })
  const stop = () => void running.stop(graceMs)
  const failed = new AbortController()
  const fail = (error: unknown) => {
    failed.abort(error)
    stop()
  }
  let hasThrown = false
  const read = (stream: 'stdout' | 'stderr') =>
    readLines(running[stream], maxLineBytes, (line) => {
      if (hasThrown) return
      try {
        onLine(line, stream)
      } catch (error) {
        hasThrown = true
        fail(error)
      }
    })
  const isRead = Promise.all([read('stdout'), read('stderr')])
  // A program may end without reading its input, which breaks the pipe.
  running.stdin?.on('error', () => {}).end(input)

  const program = JSON.stringify(options.command[0])
  const timer =
    timeoutMs !== undefined &&
    setTimeout(() => {
      const message = `${program} was stopped: it ran for more than ${timeoutMs / 1000} seconds.`
      fail(new DeployError(message))
    }, timeoutMs)
  signal?.addEventListener('abort', stop)
  // It may have aborted while the program was being started.
  if (signal?.aborted) stop()
  try {
    const ended = await running.ended
    await within(OUTPUT_MS, isRead)
    signal?.throwIfAborted()
    failed.signal.throwIfAborted()
    return ended
  } finally {
    if (timer) clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
    // A process that cannot be found may still hold the pipes open.
    running.stdout.destroy()
    running.stderr.destroy()
  }
}

/** How long the output is read after all processes have ended, in milliseconds. It is in the pipe by then. */
const OUTPUT_MS = 1000

/** Calls `onLine` for each line of a UTF-8 stream until it ends. Buffers one line, of up to `maxBytes`. */
export async function readLines(
  stream: Readable,
  maxBytes: number,
  onLine: (line: string) => void,
): Promise<void> {
  let parts: Buffer[] = []
  let length = 0
  let isCut = false
  const add = (part: Buffer) => {
    const kept = part.subarray(0, maxBytes - length)
    if (part.length > kept.length) isCut = true
    if (kept.length === 0) return
    parts.push(kept)
    length += kept.length
  }
  const finish = () => {
    const text = Buffer.concat(parts).toString('utf8').replace(/\r$/, '')
    onLine(isCut ? `${text} … (the line was cut)` : text)
    parts = []
    length = 0
    isCut = false
  }
  const read = (chunk: Buffer) => {
    let from = 0
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      add(chunk.subarray(from, at))
      finish()
      from = at + 1
    }
    add(chunk.subarray(from))
  }
  stream.on('data', read)
  await new Promise<void>((resolve) => stream.once('close', resolve))
  if (length > 0 || isCut) finish()
}

/** Variables that a command may need. The others may contain secrets. */
const PASSED = [
  'PATH',
  'HOME',
  'LANG',
  'LC_ALL',
  'LC_CTYPE',
  'TZ',
  'TMPDIR',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'npm_config_registry',
  'npm_config_cafile',
  'npm_config_cache',
]

/** The variables for commands: paths, language, certificates, and the npm registry. */
export function scrubbedEnv(env: NodeJS.ProcessEnv): Record<string, string> {
  const passed: Record<string, string> = {}
  for (const name of [...PASSED, ...PASSED.map((name) => name.toUpperCase())]) {
    const value = env[name]
    if (value !== undefined) passed[name] = value
  }
  return passed
}
