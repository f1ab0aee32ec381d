import { readFileSync } from 'node:fs'

/** Whether a process still runs. One that has ended, and that nobody has asked how, does not. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    if (process.platform !== 'linux') return true
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return stat[stat.lastIndexOf(')') + 2] !== 'Z'
  } catch {
    return false
  }
}
