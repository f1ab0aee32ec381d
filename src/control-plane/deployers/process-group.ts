import { spawn } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'

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

export type Reaper = Awaited<ReturnType<typeof startReaper>>

let reaper: Promise<Reaper> | undefined

/** The reaper of this process, which is started with the first command. */
export function theReaper(): Promise<Reaper> {
  reaper ??= startReaper().catch((error) => {
    reaper = undefined
    throw error
  })
  return reaper
}

/** How long commands may take to end by themselves after this process has ended, in milliseconds. */
const GRACE_MS = 2000

/**
 * A process that reads the ids of process groups, and kills them all when its input ends. The operating
 * system ends its input with our process. It is started with `-e`, so that no bundler can lose a file.
 */
const SCRIPT = `
const { readdirSync, readFileSync } = require('node:fs')
const [mark, graceMs] = process.argv.slice(-2)
const groups = new Set()
const kill = (target, signal) => {
  try { return process.kill(target, signal) } catch { return false }
}
const carriesMark = (pid) => {
  try { return ('\\0' + readFileSync('/proc/' + pid + '/environ', 'latin1')).includes('\\0' + mark) } catch { return false }
}
const marked = () =>
  process.platform === 'linux' ? readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name) && carriesMark(name)).map(Number) : []
const endAll = () => {
  const graceEnds = performance.now() + Number(graceMs)
  for (const group of groups) kill(-group, 'SIGTERM')
  const step = () => {
    const signal = performance.now() < graceEnds ? 0 : 'SIGKILL'
    const left = [...[...groups].map((group) => -group), ...marked()].filter((target) => kill(target, signal))
    if (left.length === 0 || performance.now() > graceEnds + 1000) process.exit()
    setTimeout(step, 100)
  }
  step()
}
let rest = ''
process.stdin.setEncoding('utf8')
process.stdin.on('data', (text) => {
  const lines = (rest + text).split('\\n')
  rest = lines.pop()
  for (const line of lines) groups[line[0] === '+' ? 'add' : 'delete'](Number(line.slice(1)))
})
process.stdin.on('error', endAll)
process.stdin.on('end', endAll)
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {})
`

/** Ends the process groups of commands when this process ends, even if it is killed. */
async function startReaper() {
  const family = crypto.randomUUID()
  const watched = new Set<number>()
  // If it cannot be started again, the next command tries again and gets the error.
  const onExit = () => void restart().catch(() => (reaper = undefined))
  let write = await startScript(family, onExit)
  // It was ended from outside. Without a new one, the current commands would outlive this process.
  async function restart() {
    if (watched.size === 0) {
      reaper = undefined
      return
    }
    write = await startScript(family, onExit)
    for (const pid of watched) write(`+${pid}\n`)
  }
  return {
    /** The prefix of its processes' marks. */
    family,
    watch(pid: number): void {
      watched.add(pid)
      write(`+${pid}\n`)
    },
    /** For a group without running processes. */
    forget(pid: number): void {
      watched.delete(pid)
      write(`-${pid}\n`)
    },
  }
}

async function startScript(family: string, onExit: () => void): Promise<(text: string) => void> {
  const child = spawn(process.execPath, ['-e', SCRIPT, `${MARK}=${family}.`, String(GRACE_MS)], {
    // In its own session, so that Ctrl+C in a terminal does not end it before this process.
    detached: true,
    env: {},
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  await new Promise<void>((resolve, reject) => child.once('spawn', resolve).once('error', reject))
  const { stdin } = child
  // `exit` reports its end.
  stdin.on('error', () => {})
  child.once('exit', onExit)
  child.unref()
  ;(stdin as Socket).unref()
  return (text) => stdin.write(text)
}
