import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

/**
 * Does the work while no other process works under this lock file. A process that has ended no longer holds
 * it.
 */
export async function exclusively(
  file: string,
  signal: AbortSignal,
  work: () => Promise<void>,
): Promise<void> {
  mkdirSync(dirname(file), { recursive: true })
  while (!taken(file)) {
    if (!isAlive(Number(readOr(file, '0')))) rmSync(file, { force: true })
    else await pause(200, undefined, { signal })
  }
  try {
    await work()
  } finally {
    rmSync(file, { force: true })
  }
}

/** Whether this process has created the file. */
function taken(file: string): boolean {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

function readOr(file: string, otherwise: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return otherwise // It was removed in the meantime.
  }
}

function isAlive(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0)
  } catch {
    return false
  }
}
