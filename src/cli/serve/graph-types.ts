import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { AgentDescription, AgentSchemas } from '../../faces/kit/index.ts'
import type { Config, GraphEntry } from './config.ts'
import { type FoundSchemas, schemasFromTypes, type TypedGraph } from './type-schemas.ts'
import { compilerFor } from './typescript.ts'

/** Schemas of a graph and its subgraphs, named `graph|child`, or `|child` if only the node is known. */
type Typed = Readonly<
  Record<string, { readonly [Key in keyof AgentSchemas]?: AgentSchemas[Key] | undefined }>
>

interface Parser {
  getStaticGraphSchema(
    specs: Readonly<Record<string, { readonly sourceFile: string; readonly exportSymbol: string }>>,
    options: { readonly timeoutMs: number },
  ): Promise<Readonly<Record<string, Typed>>>
}

/** Adds what a graph's types say to its description. */
export type DescribeTypes = (entry: GraphEntry, description: AgentDescription) => AgentDescription

interface GraphTypes {
  readonly describe: DescribeTypes
  /** Reads the types now, because it takes longer than clients wait for an answer. Never rejects. */
  readonly readAhead: () => void
}

/** Reading types compiles the project. In milliseconds. */
const TIMEOUT_MS = 120_000

/**
 * Adds the shapes that graphs do not know at run time, such as those of an `Annotation`, from the types of
 * their sources. It uses the parser of LangGraph's own server in projects that have
 * `@langchain/langgraph-api`, otherwise the project's compiler.
 */
export function graphTypes({ folder, graphs }: Pick<Config, 'folder' | 'graphs'>): GraphTypes {
  let reading: ReturnType<Parser['getStaticGraphSchema']> | undefined
  // All graphs at once, because that takes no longer than one of them.
  const read = () => (reading ??= readTypes(folder, graphs.filter(isTyped)))
  const filled = async ({ name }: GraphEntry, path: string, known: AgentSchemas): Promise<AgentSchemas> => {
    if (Object.values(known).some((schema) => schema !== null)) return known
    const typed = (await read())[name] ?? {}
    const node = path.slice(path.lastIndexOf('|') + 1)
    const {
      input = null,
      output = null,
      state = null,
      config = null,
    } = typed[path] ?? typed[`|${node}`] ?? {}
    return { input, output, state, config }
  }
  const describe: DescribeTypes = (entry, description) => ({
    drawing: (options) => description.drawing(options),
    schemas: async () => filled(entry, entry.symbol, await description.schemas()),
    async subgraphs(options) {
      const found = Object.entries(await description.subgraphs(options))
      const schemas = found.map(async ([path, known]) => {
        return [path, await filled(entry, `${entry.symbol}|${path}`, known)] as const
      })
      return Object.fromEntries(await Promise.all(schemas))
    },
  })
  return { describe, readAhead: () => void read() }
}

const isTyped = ({ file }: GraphEntry): boolean => /\.[cm]?tsx?$/.test(file)

/** Empty if the project has neither parser nor compiler, or types that they cannot read. */
async function readTypes(folder: string, graphs: readonly GraphEntry[]) {
  const parser = parserOf(folder)
  const compiler = compilerFor(join(folder, 'package.json'))
  if ((parser ?? compiler) === undefined || graphs.length === 0) return {}
  const specs = graphs.map(({ name, file, symbol }) => {
    return [name, { sourceFile: resolve(folder, file), exportSymbol: symbol }] as const
  })
  try {
    if (parser === undefined) return await compiledSchemas(compiler!, folder, graphs)
    const { getStaticGraphSchema } = (await import(pathToFileURL(parser).href)) as Parser
    return await getStaticGraphSchema(Object.fromEntries(specs), { timeoutMs: TIMEOUT_MS })
  } catch (error) {
    console.error('agentwire: could not read the types of the graphs; their schemas will be null.', error)
    return {}
  }
}

async function compiledSchemas(
  compiler: string,
  folder: string,
  graphs: readonly GraphEntry[],
): Promise<Readonly<Record<string, Typed>>> {
  const typed = graphs.map(({ name, file, symbol }) => ({ name, file: resolve(folder, file), symbol }))
  const read = () => compileInThread(compiler, folder, typed)
  const { graphs: own, nodes } = await keptTypes(folder, [compiler, typed, String(schemasFromTypes)], read)
  const ofNodes = Object.entries(nodes).map(([node, schemas]) => [`|${node}`, schemas] as const)
  return Object.fromEntries(
    graphs.map(({ name, symbol }) => [name, Object.fromEntries([...ofNodes, [symbol, own[name] ?? {}]])]),
  )
}

/** In a thread, because compiling a project blocks a CPU for seconds. */
async function compileInThread(
  compiler: string,
  folder: string,
  graphs: readonly TypedGraph[],
): Promise<FoundSchemas> {
  // Some TypeScript loaders name functions with a helper.
  const code = `
    const __name = (one) => one
    const { parentPort, workerData: { compiler, folder, graphs } } = require('node:worker_threads')
    parentPort.postMessage((${schemasFromTypes})(require(compiler), folder, graphs))`
  const worker = new Worker(code, {
    eval: true,
    execArgv: [],
    workerData: { compiler, folder, graphs },
  })
  // A server that is stopped does not wait for it.
  worker.unref()
  try {
    const [found] = await once(worker, 'message', { signal: AbortSignal.timeout(TIMEOUT_MS) })
    return found as FoundSchemas
  } finally {
    await worker.terminate()
  }
}

function parserOf(folder: string): string | undefined {
  try {
    return createRequire(join(folder, 'package.json')).resolve('@langchain/langgraph-api/schema')
  } catch {
    return undefined
  }
}

/** The schemas that were read last, and the files that they were read from. */
interface Kept {
  readonly key: string
  readonly hash: string
  readonly found: FoundSchemas
}

/** Files that say which packages a project has, and how it is compiled. */
const ABOUT = [
  'package.json',
  'package-lock.json',
  'pnpm-lock.yaml',
  'yarn.lock',
  'bun.lock',
  'node_modules/.package-lock.json',
  'tsconfig.json',
]

/** Where tools keep what they can make again. */
const placeIn = (folder: string): string =>
  join(folder, 'node_modules', '.cache', 'agentwire-graph-types.json')

/**
 * Reads with `read`, unless no file has changed since the last time. The result is kept in
 * `node_modules/.cache` of the project. A folder that cannot be written only costs the time.
 *
 * @param asked What is read, and with which compiler.
 */
async function keptTypes(
  folder: string,
  asked: unknown,
  read: () => Promise<FoundSchemas>,
): Promise<FoundSchemas> {
  const key = createHash('sha256').update(JSON.stringify(asked)).digest('hex')
  const kept = await readKept(folder)
  if (kept?.key === key && kept.hash === (await hashOf(folder, kept.found.files))) return kept.found
  const found = await read()
  const hash = await hashOf(folder, found.files)
  await writeKept(folder, { key, hash, found }).catch(() => {})
  return found
}

async function readKept(folder: string): Promise<Kept | undefined> {
  try {
    return JSON.parse(await readFile(placeIn(folder), 'utf8')) as Kept
  } catch {
    return undefined
  }
}

async function writeKept(folder: string, kept: Kept): Promise<void> {
  const place = placeIn(folder)
  // Without `recursive`, because a project in a workspace may have no `node_modules` of its own.
  await mkdir(dirname(place)).catch(() => {})
  // Servers of one project may write at the same time.
  const draft = `${place}.${process.pid}`
  await writeFile(draft, JSON.stringify(kept))
  await rename(draft, place)
}

async function hashOf(folder: string, files: readonly string[]): Promise<string> {
  const hash = createHash('sha256')
  for (const file of [...ABOUT.map((name) => join(folder, name)), ...files]) {
    const text = await readFile(file).catch(() => '')
    hash.update(`${file} ${text.length}\n`).update(text)
  }
  return hash.digest('hex')
}
