import { spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { MARK } from './process-group.ts'

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
