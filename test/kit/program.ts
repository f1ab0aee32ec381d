import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { afterEach } from 'vitest'
import { root } from '../package/package.ts'

export interface Program {
  readonly child: ChildProcess
  /** The exit code, or null where a signal ended it. */
  readonly exit: Promise<number | null>
  /** Settles with all that it has printed, as soon as that matches. */
  output(pattern: RegExp): Promise<string>
  /** All that it has printed until now, errors included. */
  text(): string
}

/** Gives a function that starts programs, which end with the test at the latest. */
export function programs(): typeof startProgram {
  const children: ChildProcess[] = []
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL')
  })
  return (...given) => {
    const program = startProgram(...given)
    children.push(program.child)
    return program
  }
}

/** What a server prints of its address. */
export const ORIGIN = /http:\/\/127\.0\.0\.1:\d+/

/** Starts a program, which the caller ends. */
export function startProgram(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
  cwd = root,
  detached = false,
): Program {
  const child = spawn(command, args, { cwd, env, detached, stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  const heard = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (piece: string) => {
      text += piece
      for (const listen of heard) listen()
    })
  const exit = new Promise<number | null>((resolve) => child.on('close', resolve))
  const output = (pattern: RegExp) =>
    new Promise<string>((resolve, reject) => {
      const look = () => {
        if (pattern.test(text)) resolve(text)
      }
      heard.add(look)
      look()
      void exit.then(() => reject(new Error(`It ended and never printed ${pattern}:\n${text}`)))
    })
  return { child, exit, output, text: () => text }
}

/** The arguments of Node that run one of the project's TypeScript files. */
export const typescript = (path: string): readonly string[] => ['--import', 'tsx', join(root, path)]
