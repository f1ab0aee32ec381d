import { createRequire, register } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

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
