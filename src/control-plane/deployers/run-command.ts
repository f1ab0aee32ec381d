import type { Readable } from 'node:stream'
import { within } from '../../time.ts'
import { DeployError } from './errors.ts'
import { type Ended, type Supervised, type SupervisedCommand, spawnSupervised } from './supervised.ts'

/** A command to run to its end. */
export interface RunCommandOptions extends Omit<SupervisedCommand, 'hasInput'> {
  readonly signal?: AbortSignal | undefined
  /** A line of its output, without its line break. Lines of one stream come in order. What it throws stops the command, and is what `runCommand` rejects with. */
  readonly onLine?: ((line: string, stream: 'stdout' | 'stderr') => void) | undefined
  /** Default: it may take as long as it takes. */
  readonly timeoutMs?: number | undefined
  /** What it reads from its stdin. Default: nothing. */
  readonly input?: string | undefined
  /** A longer line is cut, and says so. Default: 65536. */
  readonly maxLineBytes?: number | undefined
  /** How long it has between SIGTERM and SIGKILL, once it has to stop. Default: 5000. */
  readonly graceMs?: number | undefined
}

/**
 * Runs a command, without a shell, in a process group of its own, and settles when nothing of it runs any more. A command that fails is not
 * an error: the result tells how it ended. Rejects with the reason of the signal, and with a `DeployError` where the program cannot be started
 * or takes longer than `timeoutMs`.
 */
export async function runCommand(options: RunCommandOptions): Promise<Ended> {
  const { signal, onLine = () => {}, timeoutMs, input, maxLineBytes = 65_536, graceMs = 5000 } = options
  signal?.throwIfAborted()
  const running = await spawnSupervised({ ...options, hasInput: input !== undefined })
  const stop = () => void running.stop(graceMs)
  let thrown: { readonly error: unknown } | undefined
  const tell = (line: string, stream: 'stdout' | 'stderr') => {
    if (thrown !== undefined) return
    try {
      onLine(line, stream)
    } catch (error) {
      thrown = { error }
      stop()
    }
  }
  const isRead = Promise.all([
    readLines(running.stdout, maxLineBytes, (line) => tell(line, 'stdout')),
    readLines(running.stderr, maxLineBytes, (line) => tell(line, 'stderr')),
  ])
  if (input !== undefined) writeInput(running, input)

  let isLate = false
  const timer =
    timeoutMs === undefined
      ? undefined
      : setTimeout(() => {
          isLate = true
          stop()
        }, timeoutMs)
  signal?.addEventListener('abort', stop)
  // It may have been aborted while the program was being started.
  if (signal?.aborted) stop()
  try {
    const ended = await running.ended
    await within(OUTPUT_MS, isRead)
    signal?.throwIfAborted()
    if (thrown !== undefined) throw (thrown as { readonly error: unknown }).error
    if (isLate)
      throw new DeployError(
        `${JSON.stringify(options.command[0])} was stopped: it ran for more than ${timeoutMs! / 1000} seconds.`,
      )
    return ended
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
    // A process that cannot be found may still hold the pipes.
    running.stdout.destroy()
    running.stderr.destroy()
  }
}

/** How long the output is read for after all processes have ended. It is in the pipe by then. */
const OUTPUT_MS = 1000

/** Calls `onLine` for each line of a stream of UTF-8, and settles when the stream ends. No more than one line is held, up to `maxBytes`. */
export async function readLines(
  stream: Readable,
  maxBytes: number,
  onLine: (line: string) => void,
): Promise<void> {
  let parts: Buffer[] = []
  let length = 0
  let isCut = false
  const add = (part: Buffer) => {
    const room = maxBytes - length
    if (part.length > room) isCut = true
    const kept = part.subarray(0, room)
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

function writeInput({ stdin }: Supervised, input: string): void {
  // A program may end without having read its input, which breaks the pipe.
  stdin!.on('error', () => {})
  stdin!.end(input)
}

/** The variables of our own environment that a command may need. All others stay here: they may hold secrets. */
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

/** What of an environment is passed on to commands: paths, language, certificates, and the registry of npm. */
export function scrubbedEnv(env: NodeJS.ProcessEnv): Record<string, string> {
  const passed: Record<string, string> = {}
  for (const name of [...PASSED, ...PASSED.map((name) => name.toUpperCase())]) {
    const value = env[name]
    if (value !== undefined) passed[name] = value
  }
  return passed
}
