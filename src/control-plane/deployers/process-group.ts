import { readdir, readFile } from 'node:fs/promises'

/** The environment variable by which the processes that a command has started are known, also those that left its process group. */
export const MARK = 'AGENTWIRE_SUPERVISED'

/** A command that was started as the leader of a process group. */
export interface ProcessGroup {
  readonly pid: number
  /** The value of `MARK` in its environment. */
  readonly mark: string
}

/**
 * Sends a signal to every process of the group. On Linux also to those that made a group of their own (`setsid`) and kept the environment;
 * elsewhere nothing tells whose they are. Returns whether there was any.
 */
export async function signalGroup(group: ProcessGroup, signal: NodeJS.Signals): Promise<boolean> {
  const isThere = kill(-group.pid, signal)
  const strays = (await processes(group.mark)).filter(
    ({ groupId, isMarked }) => isMarked && groupId !== group.pid,
  )
  for (const { pid } of strays) kill(pid, signal)
  return isThere || strays.length > 0
}

/** Whether a process of the group still runs. One that has ended, and that nobody has asked how, does not count where this can be seen. */
export async function groupRuns(group: ProcessGroup): Promise<boolean> {
  if (process.platform !== 'linux') return kill(-group.pid, 0)
  return (await processes(group.mark)).some(({ groupId, isMarked }) => isMarked || groupId === group.pid)
}

interface RunningProcess {
  readonly pid: number
  readonly groupId: number
  readonly isMarked: boolean
}

/** Those that run now, as far as `/proc` tells. */
async function processes(mark: string): Promise<readonly RunningProcess[]> {
  if (process.platform !== 'linux') return []
  const names = await readdir('/proc').catch(() => [])
  const pids = names.filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(pids.map((pid) => readProcess(Number(pid), `${MARK}=${mark}`)))
  return found.filter((one) => one !== undefined)
}

async function readProcess(pid: number, mark: string): Promise<RunningProcess | undefined> {
  try {
    const [stat, environment] = await Promise.all([
      readFile(`/proc/${pid}/stat`, 'latin1'),
      // The environment of other users' processes may not be read; they are none of ours.
      readFile(`/proc/${pid}/environ`, 'latin1').catch(() => ''),
    ])
    // The name of the program stands in brackets and may hold anything: what follows its last bracket is "state parent group …".
    const [state, , groupId] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (state === 'Z' || state === 'X') return undefined
    return { pid, groupId: Number(groupId), isMarked: environment.split('\0').includes(mark) }
  } catch {
    // It has ended since the list was read.
    return undefined
  }
}

/** Whether there was a process to send it to. */
function kill(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(target, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
    // A process that may not be signalled is there. macOS says so of one that has just ended, too.
    if ((error as NodeJS.ErrnoException).code === 'EPERM') return true
    throw error
  }
}
