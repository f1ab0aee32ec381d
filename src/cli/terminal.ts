import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline/promises'

/** The environment and the output of a command. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Prints the result. */
  out(text: string): void
  /** Asks for a line. Absent if there is no interactive terminal. Rejects with `Canceled`. */
  ask?(question: string): Promise<string>
  /** Prints why there is no result. */
  problem(text: string): void
}

/** 1 means that the command failed, 2 that the command line is invalid, 130 that the user canceled it. */
export type ExitCode = 0 | 1 | 2 | 130

/** The command line is invalid; the message says why. */
export class UsageError extends Error {}

/** The user pressed Ctrl-C or Ctrl-D at a question. */
export class Canceled extends Error {}

/** Asks for a line on a terminal. Rejects with `Canceled` at Ctrl-C and at Ctrl-D. */
export async function askLine(
  question: string,
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
): Promise<string> {
  const lines = createInterface({ input, output, terminal: true })
  try {
    return await Promise.race([
      lines.question(question),
      // Not every release of Node also rejects the question.
      new Promise<never>((_, reject) => lines.once('close', () => reject(new Canceled()))),
    ])
  } catch (error) {
    throw (error as Error).name === 'AbortError' ? new Canceled() : error
  } finally {
    lines.close()
  }
}

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

/** Resolves at the first SIGINT or SIGTERM. A second one ends the process immediately. */
export function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    let stopping = false
    const stop = (signal: NodeJS.Signals): void => {
      if (stopping) process.exit(signal === 'SIGINT' ? 130 : 143)
      stopping = true
      resolve()
    }
    process.on('SIGINT', stop)
    process.on('SIGTERM', stop)
  })
}
