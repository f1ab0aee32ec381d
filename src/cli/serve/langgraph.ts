import { createRequire, register } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { ConfigError } from './config-reader.ts'

/** The version of a project's LangGraph. Undefined if it has none. */
export function langgraphVersion(folder: string): string | undefined {
  const require = createRequire(join(folder, 'package.json'))
  try {
    return (require('@langchain/langgraph/package.json') as { readonly version: string }).version
  } catch {
    return undefined
  }
}

/**
 * Throws `ConfigError` if this package cannot run a project's LangGraph. Returns a warning if it is only
 * older than the tested ones.
 */
export function checkLangGraph(folder: string): string | undefined {
  const version = langgraphVersion(folder)
  const [major = 1, minor = 0] = version?.split('.').map(Number) ?? []
  if (version === undefined || major > 1 || (major === 1 && minor >= 4)) return undefined
  const found = `${folder} has @langchain/langgraph ${version}, but agentwire needs 1.4 or later.`
  const command = 'npm install @langchain/langgraph@1 @langchain/core@1'
  if (major === 0)
    throw new ConfigError(`${found} Run “${command}” in that folder, or the same with your package manager.`)
  return `${found} Some features may not work.`
}

const PACKAGE = '@langchain/langgraph'

/**
 * Runs in Node's thread for module hooks: this package's imports of LangGraph are resolved from the project.
 */
const HOOKS = `
let ours, project
export function initialize(data) {
  ;({ ours, project } = data)
}
export function resolve(specifier, context, next) {
  const isLangGraph = specifier === '${PACKAGE}' || specifier.startsWith('${PACKAGE}/')
  const isOurs = isLangGraph && context.parentURL?.startsWith(ours)
  return next(specifier, isOurs ? { ...context, parentURL: project } : context)
}
`

/**
 * Makes this package use a project's LangGraph if it would find another one or none, for example in the npx
 * cache. States are then read with the classes that the graphs use.
 */
export function shareLangGraph(folder: string): void {
  const project = join(folder, 'package.json')
  const theirs = find(project)
  if (theirs === undefined || theirs === find(import.meta.url)) return
  const ours = pathToFileURL(dirname(fileURLToPath(import.meta.url))).href
  const data = { ours, project: pathToFileURL(project).href }
  register(`data:text/javascript,${encodeURIComponent(HOOKS)}`, { data })
}

function find(from: string): string | undefined {
  try {
    return createRequire(from).resolve(PACKAGE)
  } catch {
    return undefined
  }
}
