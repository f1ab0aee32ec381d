import { posix } from 'node:path'
import type { Choices } from './choices.ts'

export interface Template {
  readonly choices: Choices
  /** Returns the text of a file in the examples. */
  readonly read: (path: string) => string
}

/**
 * An example file as a project file: without the regions that the project does not use, with imports of its
 * sibling files, and without unused imports.
 */
export function adapt({ choices, read }: Template, from: string, to: string): string {
  const text = read(from)
  if (!/\.tsx?$/.test(from)) return text
  const isServer = to === 'server.ts'
  const kept = regions(text, regionsOf(choices, isServer))
  const withAuth = choices.auth ? kept : kept.replace(/^.*\bauthenticate\b.*\n/gm, '')
  const withPage = isServer ? withAuth.replace(/^( *)const page = .*\n/m, choices.page ? '' : LINK) : withAuth
  const own = isServer ? addImports(withPage, choices) : withPage
  return withoutUnused(ownPaths(own, from, to))
}

/** The page of a project without one. */
const LINK = `$1const page = '<!doctype html><title>Agents</title><a href="/agents">Agents</a>'\n`

/** The names of the regions to keep. */
const regionsOf = ({ auth, page, model }: Choices, isServer: boolean): ReadonlySet<string> =>
  new Set([
    ...(auth ? ['auth'] : []),
    ...(page || isServer ? ['page'] : []),
    ...(model === 'scripted' ? [] : ['provider']),
  ])

const REGION = /^ *\/\/ #region (\w+)\n([\s\S]*?)^ *\/\/ #endregion\n/gm

const regions = (text: string, kept: ReadonlySet<string>): string =>
  text
    .replace(REGION, (_, name: string, inside: string) => (kept.has(name) ? inside : ''))
    .replace(/\n{3,}/g, '\n\n')
    .trimEnd()
    .concat('\n')

/** A framework's server imports its agents and its page from sibling files. */
function addImports(text: string, { page }: Choices): string {
  const last = text.lastIndexOf('\nimport ')
  const end = text.indexOf('\n', last + 1) + 1
  const own = ["import { server } from './agents.ts'", ...(page ? ["import { page } from './page.ts'"] : [])]
  return `${text.slice(0, end)}${own.join('\n')}\n${text.slice(end)}`
}

/** Files in folders of other examples become files of the project. */
function ownPaths(text: string, from: string, to: string): string {
  const folder = posix.dirname(from)
  return text.replace(/(from |import\(|import )'(\.[^']+)'/g, (_, keyword: string, path: string) => {
    const target = placeOf(posix.join(folder, path))
    const relative = posix.relative(posix.dirname(to), target)
    return `${keyword}'${relative.startsWith('.') ? relative : `./${relative}`}'`
  })
}

/** Where an example file is placed in a project. */
function placeOf(path: string): string {
  const inside = path.replace(/^(?:start\/storage\/\w+)\.ts$/, 'storage.ts')
  return inside.startsWith('offline/') ? inside : inside.replace(/^(?!storage\.ts)[^/]+\//, '')
}

const IMPORT = /^import (?:(\w+)(?:, )?)?(?:\{ ([^}]*) \} )?from '[^']+'\n/gm

/** Removes the names of unused imports. */
function withoutUnused(text: string): string {
  const code = text.replace(IMPORT, '')
  const isUsed = (name: string) => new RegExp(`\\b${name}\\b`).test(code)
  return text.replace(IMPORT, (line, whole: string | undefined, names: string | undefined) => {
    if (names === undefined) return line
    const used = names.split(', ').filter((name) => isUsed(name.replace(/^(?:type |.* as )/, '')))
    if (used.length > 0) return line.replace(`{ ${names} }`, `{ ${used.join(', ')} }`)
    return whole === undefined ? '' : line.replace(/, \{[^}]*\}/, '')
  })
}
