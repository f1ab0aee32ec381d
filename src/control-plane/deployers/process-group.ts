import { readdir, readFile } from 'node:fs/promises'

/** The environment variable that identifies a command's processes, including those that left its group. */
export const MARK = 'AGENTWIRE_SUPERVISED'

/** A command that was started as the leader of a process group. */
export interface ProcessGroup {
  readonly pid: number
  /** The value of `MARK` in its environment. */
  readonly mark: string
}

/**
 * Sends a signal to all processes of the group. On Linux, also to those that created their own group
 * (`setsid`) and kept the environment; elsewhere these cannot be found. Returns whether there was any.
 */
export async function signalGroup(group: ProcessGroup, signal: NodeJS.Signals): Promise<boolean> {
  const exists = kill(-group.pid, signal)
  const others = (await processes(group.mark)).filter(
    ({ groupId, isMarked }) => isMarked && groupId !== group.pid,
  )
  for (const { pid } of others) kill(pid, signal)
  return exists || others.length > 0
}

/** Whether a process of the group is running. On Linux, a zombie does not count. */
export async function groupRuns(group: ProcessGroup): Promise<boolean> {
  if (process.platform !== 'linux') return kill(-group.pid, 0)
  return (await processes(group.mark)).some(({ groupId, isMarked }) => isMarked || groupId === group.pid)
}

interface RunningProcess {
  readonly pid: number
  readonly groupId: number
  readonly isMarked: boolean
}

/** The running processes that `/proc` lists. */
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
      // Processes of other users cannot be read, and are not ours.
      readFile(`/proc/${pid}/environ`, 'latin1').catch(() => ''),
    ])
    // "(name) state parent group …", where the name may contain any characters.
    const [state, , groupId] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (state === 'Z' || state === 'X') return undefined
    return { pid, groupId: Number(groupId), isMarked: environment.split('\0').includes(mark) }
  } catch {
    // It has ended since the list was read.
    return undefined
  }
}

/** Returns whether the process exists. */
function kill(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(target, signal)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ESRCH') return false
    // A process that may not be signalled exists. macOS also reports this for one that has just ended.
    if (code === 'EPERM') return true
    throw error
  }
}
