import { type ChildProcess, spawn } from 'node:child_process'
import { stat } from 'node:fs/promises'
import type { Readable, Writable } from 'node:stream'
import { sleep } from '../../time.ts'
import { DeployError } from './errors.ts'
import { groupRuns, MARK, type ProcessGroup, signalGroup } from './process-group.ts'
import { type Reaper, theReaper } from './reaper.ts'

/** What is started: a program with its arguments, no shell. */
export interface SupervisedCommand {
  readonly command: readonly [program: string, ...args: string[]]
  readonly cwd: string
  /** The whole environment: nothing is inherited. One variable of our own is added to it, by which its processes are found again. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Whether `stdin` is a pipe. Default: false, it reads nothing. */
  readonly hasInput?: boolean | undefined
}

/** How a command ended: with an exit code, or by a signal. */
export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A command that runs. */
export interface Supervised {
  readonly pid: number
  /** Null without `hasInput`. */
  readonly stdin: Writable | null
  /** Has to be read from the beginning: what nobody reads is lost, or makes the command wait. */
  readonly stdout: Readable
  readonly stderr: Readable
  /** Settles when nothing of it runs any more. It never rejects. */
  readonly ended: Promise<Ended>
  /** SIGTERM to all its processes, and after `graceMs` SIGKILL to those that are left. A second call can only shorten the time. Settles like `ended`. */
  readonly stop: (graceMs: number) => Promise<Ended>
}

/**
 * Starts a command in a process group of its own. The group ends with its first process: what that one leaves behind is killed. It ends, too,
 * when our own process ends, even by `kill -9`: with SIGTERM, and two seconds later with SIGKILL. On Linux all this holds for processes that
 * left the group, too, as long as they kept the environment. POSIX only.
 *
 * Rejects with a `DeployError` where the program cannot be started.
 */
export async function spawnSupervised(command: SupervisedCommand): Promise<Supervised> {
  const reaper = await theReaper()
  const mark = `${reaper.family}.${crypto.randomUUID()}`
  const child = start(command, mark)
  // The reaper has to know of it before anything else can happen to us.
  if (child.pid !== undefined) reaper.watch({ pid: child.pid, mark })
  try {
    await new Promise<void>((resolve, reject) => child.once('spawn', resolve).once('error', reject))
  } catch (error) {
    throw await startFailure(command, error as NodeJS.ErrnoException)
  }
  return supervise(child, { pid: child.pid!, mark }, reaper)
}

function start(
  { command: [program, ...args], cwd, env, hasInput }: SupervisedCommand,
  mark: string,
): ChildProcess {
  try {
    return spawn(program, args, {
      cwd,
      env: { ...env, [MARK]: mark },
      detached: true,
      stdio: [hasInput ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    })
  } catch (error) {
    // Arguments that cannot be passed: one holds a NUL, or they are too long.
    throw new DeployError(
      `The program ${JSON.stringify(program)} could not be started: ${(error as Error).message}`,
      {
        cause: error,
      },
    )
  }
}

function supervise(child: ChildProcess, group: ProcessGroup, reaper: Reaper): Supervised {
  const exited = new Promise<Ended>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }))
  })
  /** When the processes that are left are killed: at once when the first one ends by itself. */
  let graceEnds = 0
  let isTold = false
  let isOver = false
  const ended = exited.then(async (how) => {
    while (performance.now() < graceEnds && (await groupRuns(group))) await sleep(50)
    await killGroup(group)
    isOver = true
    reaper.forget(group)
    return how
  })
  return {
    pid: group.pid,
    stdin: child.stdin,
    stdout: child.stdout!,
    stderr: child.stderr!,
    ended,
    stop: async (graceMs) => {
      // Its id may belong to somebody else by now.
      if (isOver) return ended
      const until = performance.now() + graceMs
      graceEnds = isTold ? Math.min(graceEnds, until) : until
      const timer = setTimeout(() => void killGroup(group), graceMs)
      if (!isTold) {
        isTold = true
        await signalGroup(group, 'SIGTERM')
      }
      return ended.finally(() => clearTimeout(timer))
    },
  }
}

/** How often what is left is killed again: a process may start another one while we look. */
const KILL_ROUNDS = 20

async function killGroup(group: ProcessGroup): Promise<void> {
  for (let round = 0; round < KILL_ROUNDS; round++) {
    if (!(await signalGroup(group, 'SIGKILL')) || !(await groupRuns(group))) return
    await sleep(10)
  }
}

async function startFailure(
  { command: [program], cwd }: SupervisedCommand,
  error: NodeJS.ErrnoException,
): Promise<DeployError> {
  const name = JSON.stringify(program)
  const isFolder = await stat(cwd).then(
    (found) => found.isDirectory(),
    () => false,
  )
  if (!isFolder)
    return new DeployError(`The folder that ${name} has to run in does not exist.`, { cause: error })
  if (error.code === 'ENOENT')
    return new DeployError(`The program ${name} does not exist, or is not in the PATH.`, { cause: error })
  if (error.code === 'EACCES')
    return new DeployError(`The program ${name} may not be executed.`, { cause: error })
  return new DeployError(`The program ${name} could not be started: ${error.code}.`, { cause: error })
}
