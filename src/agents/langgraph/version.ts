import { AgentwireError } from '../../core/errors.ts'

const PACKAGE = '@langchain/langgraph'

/** The versions of LangGraph that are installed. Undefined where none is found. */
interface Installed {
  /** The one that this package uses. */
  readonly ours?: string | undefined
  /** The one of the folder in which the process was started. */
  readonly project?: string | undefined
}

/**
 * Throws `invalid_agent` for a graph of a LangGraph that is older than this package can run. Returns a warning
 * if there are two copies of different versions: their graphs and checkpoints may not fit each other.
 */
export function checkVersion(graph: object, installed: Installed): string | undefined {
  const { ours, project } = installed
  // Copies before 1.3 have no such field, whatever version is found. A remote graph has no nodes.
  const isOld = 'nodes' in graph && !('streamTransformers' in graph)
  if (isOld || isTooOld(ours) || (ours === undefined && isTooOld(project)))
    throw new AgentwireError(
      'invalid_agent',
      `langgraph() needs ${PACKAGE} 1.4 or later, but this graph was made with an older version${found(installed)}. Run “npm install ${PACKAGE}@1 @langchain/core@1”, or the same with your package manager.`,
    )
  if (ours === undefined || project === undefined || ours === project) return undefined
  return `agentwire: there are two versions of ${PACKAGE}${found(installed)}. Install one for both, because graphs of one may not run with the other.`
}

function found({ ours, project }: Installed): string {
  const places = [
    ...(project === undefined ? [] : [`${project} in this folder`]),
    ...(ours === undefined || ours === project ? [] : [`${ours} beside agentwire`]),
  ]
  return places.length === 0 ? '' : `: ${places.join(', ')}`
}

function isTooOld(version: string | undefined): boolean {
  const [major = 1, minor = 4] = version?.split('.').map(Number) ?? []
  return major < 1 || (major === 1 && minor < 4)
}

let known: Installed | undefined

/** Empty on runtimes without Node's modules, and in bundles. */
const installed = (): Installed => (known ??= { ours: versionAt(here()), project: versionAt(cwd()) })

// The CommonJS build has no `import.meta`.
const here = (): string => (typeof __filename === 'string' ? __filename : import.meta.url)

const cwd = (): string | undefined => globalThis.process?.cwd && `${globalThis.process.cwd()}/package.json`

function versionAt(from: string | undefined): string | undefined {
  try {
    const modules = globalThis.process?.getBuiltinModule?.('node:module')
    const found = from && modules?.createRequire(from)(`${PACKAGE}/package.json`)
    return (found as { readonly version: string } | undefined)?.version
  } catch {
    return undefined
  }
}

const told = new Set<string>()

/** Checks a graph against what is installed. A warning is given once. */
export function requireVersion(graph: object): void {
  const warning = checkVersion(graph, installed())
  if (warning === undefined || told.has(warning)) return
  told.add(warning)
  console.warn(warning)
}
