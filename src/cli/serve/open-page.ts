import { spawn } from 'node:child_process'
import type { Terminal } from '../terminal.ts'

/** Opens a page in the user's browser: the program in `BROWSER`, otherwise the system's default. */
export function openPage(url: string, { env, problem }: Terminal): void {
  const [program, ...args] = env.BROWSER ? [env.BROWSER] : (SYSTEM[process.platform] ?? ['xdg-open'])
  const child = spawn(program!, [...args, url], { detached: true, stdio: 'ignore' })
  child.once('error', () => problem(`No browser was found. Open ${url} yourself, or pass --no-open.`))
  child.unref()
}

const SYSTEM: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['open'],
  // The empty argument is the window's title.
  win32: ['cmd', '/c', 'start', ''],
}
