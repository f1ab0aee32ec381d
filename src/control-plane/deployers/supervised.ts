import { type ChildProcess, spawn } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { sleep } from '../../time.ts'
import { DeployError } from './deployer.ts'
import { groupRuns, MARK, type ProcessGroup, signalGroup } from './process-group.ts'
import { type Reaper, theReaper } from './reaper.ts'

/** A program with its arguments, without a shell. */
export interface SupervisedCommand {
  readonly command: readonly [program: string, ...args: string[]]
  readonly cwd: string
  /** The whole environment: nothing is inherited. A variable is added by which its processes are found. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Whether `stdin` is a pipe. Default: false, it reads nothing. */
  readonly hasInput?: boolean | undefined
}

/** How a command ended: with an exit code, or by a signal. */
export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export type Supervised = ReturnType<typeof supervise>

/**
 * Starts a command in a process group of its own. The group ends with its first process: the others are
 * killed. It also ends with our own process, even after `kill -9`: by SIGTERM, and by SIGKILL two seconds
 * later. On Linux this includes processes that left the group, if they kept the environment. POSIX only.
 *
 * Rejects with a `DeployError` if the program cannot be started.
 */
export async function spawnSupervised(command: SupervisedCommand): Promise<Supervised> {
  const reaper = await theReaper()
  const mark = `${reaper.family}.${crypto.randomUUID()}`
  const child = start(command, mark)
  // First of all, since our process may be killed at any time.
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
    // Arguments that cannot be passed: one has a NUL, or they are too long.
    const name = JSON.stringify(program)
    const message = `The program ${name} could not be started: ${(cause as Error).message}`
    throw new DeployError(message, { cause })
  }
}

function supervise(child: ChildProcess, group: ProcessGroup, reaper: Reaper) {
  const exited = new Promise<Ended>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }))
  })
  /** When the other processes are killed: at once if the first one ends by itself. */
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
    /** Has to be read from the start: a full pipe makes the command wait. */
    stdout: child.stdout!,
    stderr: child.stderr!,
    /** Settles when none of its processes runs any more. Never rejects. */
    ended,
    /**
     * Sends SIGTERM to all its processes, and SIGKILL to the rest after `graceMs`. A second call can only
     * shorten the time. Settles as `ended`.
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

/** How often the rest is killed again: a process may start another one meanwhile. */
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
