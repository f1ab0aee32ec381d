import { type ChildProcess, spawn } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { sleep } from '../../core/time.ts'
import { DeployError } from './deployer.ts'
import { groupRuns, MARK, type ProcessGroup, type Reaper, signalGroup, theReaper } from './process-group.ts'

/** A program with its arguments, without a shell. */
export interface SupervisedCommand {
  readonly command: readonly [program: string, ...args: string[]]
  readonly cwd: string
  /** The complete environment: nothing is inherited. A variable that identifies its processes is added. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Whether `stdin` is a pipe. Default: false, so that it reads nothing. */
  readonly hasInput?: boolean | undefined
}

/** How a command ended: with an exit code, or by a signal. */
export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export type Supervised = ReturnType<typeof supervise>

/**
 * Starts a command in its own process group. The group ends with its first process: the others are killed. It
 * also ends with this process, even after `kill -9`: with SIGTERM, and with SIGKILL two seconds later. On
 * Linux this includes processes that left the group, if they kept the environment. POSIX only.
 *
 * Rejects with a `DeployError` if the program cannot be started.
 */
export async function spawnSupervised(command: SupervisedCommand): Promise<Supervised> {
  const reaper = await theReaper()
  const mark = `${reaper.family}.${crypto.randomUUID()}`
  const child = start(command, mark)
  // Before anything else, because this process may be killed at any time.
  if (child.pid !== undefined) reaper.watch(child.pid)
  try {
    await new Promise<void>((resolve, reject) => child.once('spawn', resolve).once('error', reject))
  } catch (error) {
    throw await startFailure(command, error as NodeJS.ErrnoException)
  }
  return supervise(child, { pid: child.pid!, mark }, reaper)
}

function start({ command, cwd, env, hasInput }: SupervisedCommand, mark: string): ChildProcess {
  const [program, ...args] = command
  try {
    return spawn(program, args, {
      cwd,
      env: { ...env, [MARK]: mark },
      detached: true,
      stdio: [hasInput ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    })
  } catch (cause) {
    // Arguments that cannot be passed: one contains a NUL, or they are too long.
    const name = JSON.stringify(program)
    const message = `The program ${name} could not be started: ${(cause as Error).message}`
    throw new DeployError(message, { cause })
  }
}

function supervise(child: ChildProcess, group: ProcessGroup, reaper: Reaper) {
  const exited = new Promise<Ended>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }))
  })
  /** When the other processes are killed: immediately if the first one ends by itself. */
  let graceEnds = 0
  let isStopping = false
  let isOver = false
  const ended = exited.then(async (how) => {
    while (performance.now() < graceEnds && (await groupRuns(group))) await sleep(50)
    await killGroup(group)
    isOver = true
    reaper.forget(group.pid)
    return how
  })
  return {
    pid: group.pid,
    /** Null without `hasInput`. */
    stdin: child.stdin,
    /** It must be read from the start: a full pipe blocks the command. */
    stdout: child.stdout!,
    stderr: child.stderr!,
    /** Resolves when none of its processes is running. Never rejects. */
    ended,
    /**
     * Sends SIGTERM to all its processes, and SIGKILL to the rest after `graceMs`. A second call can only
     * shorten the time. Settles like `ended`.
     */
    stop: async (graceMs: number): Promise<Ended> => {
      // Another process may have its id by now.
      if (isOver) return ended
      const until = performance.now() + graceMs
      graceEnds = isStopping ? Math.min(graceEnds, until) : until
      const timer = setTimeout(() => void killGroup(group), graceMs)
      if (!isStopping) {
        isStopping = true
        await signalGroup(group, 'SIGTERM')
      }
      return ended.finally(() => clearTimeout(timer))
    },
  }
}

/** How often the rest is killed again, because a process may start another one meanwhile. */
const KILL_ROUNDS = 20

async function killGroup(group: ProcessGroup): Promise<void> {
  for (let round = 0; round < KILL_ROUNDS; round++) {
    if (!(await signalGroup(group, 'SIGKILL')) || !(await groupRuns(group))) return
    await sleep(10)
  }
}

async function startFailure(
  { command: [program], cwd }: SupervisedCommand,
  cause: NodeJS.ErrnoException,
): Promise<DeployError> {
  const name = JSON.stringify(program)
  const isFolder = await stat(cwd).then(
    (found) => found.isDirectory(),
    () => false,
  )
  if (!isFolder) return new DeployError(`The working directory of ${name} does not exist.`, { cause })
  if (cause.code === 'ENOENT')
    return new DeployError(`The program ${name} does not exist, or is not in the PATH.`, { cause })
  if (cause.code === 'EACCES') return new DeployError(`The program ${name} is not executable.`, { cause })
  return new DeployError(`The program ${name} could not be started: ${cause.code}.`, { cause })
}
