import { realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { DeployError, type PhaseContext } from '../deployer.ts'

type Phase<C extends PhaseContext, R extends unknown[], T> = (context: C, ...rest: R) => Promise<T>

/**
 * Removes this machine's paths from a phase's log and errors: the source of a revision becomes `.`, and the
 * folders of the deployer, of this process and of the user become `…`.
 */
export function pathHider(dir: string) {
  const hide = hiderOf(dir)
  return <C extends PhaseContext, R extends unknown[], T>(phase: Phase<C, R, T>): Phase<C, R, T> =>
    async (context, ...rest) => {
      try {
        return await phase({ ...context, log: (line, level) => context.log(hide(line), level) }, ...rest)
      } catch (error) {
        if (!(error instanceof DeployError)) throw error
        const message = hide(error.message)
        throw message === error.message ? error : new DeployError(message, { cause: error })
      }
    }
}

function hiderOf(dir: string): (text: string) => string {
  const dirs = withReal([dir])
  const others = withReal([process.cwd(), homedir()]).filter((path) => path !== '/')
  const source = new RegExp(
    `(?:${dirs.map(escaped).join('|')})/deployments/[\\w-]+/[\\w-]+/source${END}`,
    'g',
  )
  const known = [...dirs, ...others].sort((a, b) => b.length - a.length).map(escaped)
  const other = new RegExp(`(?:${known.join('|')})${END}`, 'g')
  return (text) => text.replace(source, '.').replace(other, '…')
}

/** The end of a folder's name. */
const END = '(?![\\w.-])'

/** Programs often resolve links. */
const withReal = (paths: readonly string[]): string[] => [
  ...new Set(paths.flatMap((path) => [path, realOf(path)])),
]

function realOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path // It is created later.
  }
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
