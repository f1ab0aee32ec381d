import { readdir, readFile } from 'node:fs/promises'

/** The environment variable by which the processes of a command are found, also those that left its group. */
export const MARK = 'AGENTWIRE_SUPERVISED'

/** A command that was started as the leader of a process group. */
export interface ProcessGroup {
  readonly pid: number
  /** The value of `MARK` in its environment. */
  readonly mark: string
}

/**
 * Sends a signal to all processes of the group. On Linux also to those that formed a group of their own
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

/** Whether a process of the group runs. On Linux a zombie does not count. */
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
      // Those of other users cannot be read, and do not belong to us.
      readFile(`/proc/${pid}/environ`, 'latin1').catch(() => ''),
    ])
    // "(name) state parent group …", in which the name may have any characters.
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
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ESRCH') return false
    // A process that may not be signalled exists. macOS says so of one that has just ended, too.
    if (code === 'EPERM') return true
    throw error
  }
}
