import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { AgentDescription, AgentSchemas } from '../../src/agents/description.ts'
import type { Config, GraphEntry } from './config.ts'

/** Schemas of a graph and its subgraphs, which have names such as `graph|child`. */
type Typed = Readonly<
  Record<string, { readonly [Key in keyof AgentSchemas]?: AgentSchemas[Key] | undefined }>
>

interface Spec {
  readonly sourceFile: string
  readonly exportSymbol: string
}

interface Parser {
  getStaticGraphSchema(
    specs: Readonly<Record<string, Spec>>,
    options: { readonly timeoutMs: number },
  ): Promise<Readonly<Record<string, Typed>>>
}

/** Adds to the description of a graph what its types say. */
export type DescribeTypes = (entry: GraphEntry, description: AgentDescription) => AgentDescription

/** Reading types means to compile the project. */
const TIMEOUT_MS = 120_000

/**
 * Fills in the shapes that graphs do not know at run time, such as those of an `Annotation`, from the types of their sources. They
 * are read by the parser of LangGraph's own server, in projects that have `@langchain/langgraph-api`.
 */
export function graphTypes({ folder, graphs }: Pick<Config, 'folder' | 'graphs'>): DescribeTypes {
  let reading: ReturnType<Parser['getStaticGraphSchema']> | undefined
  // All graphs at once, since that takes no longer than one of them.
  const read = () => (reading ??= readTypes(folder, graphs.filter(isTyped)))
  const filled = async ({ name }: GraphEntry, path: string, known: AgentSchemas): Promise<AgentSchemas> => {
    if (Object.values(known).some((schema) => schema !== null)) return known
    const { input = null, output = null, state = null, config = null } = (await read())[name]?.[path] ?? {}
    return { input, output, state, config }
  }
  return (entry, description) => ({
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
}

const isTyped = ({ file }: GraphEntry): boolean => /\.[cm]?tsx?$/.test(file)

/** Nothing where the project has no parser, or types that it cannot read. */
async function readTypes(folder: string, graphs: readonly GraphEntry[]) {
  const parser = parserOf(folder)
  if (parser === undefined || graphs.length === 0) return {}
  const specs = graphs.map(({ name, file, symbol }) => {
    return [name, { sourceFile: resolve(folder, file), exportSymbol: symbol }] as const
  })
  try {
    const { getStaticGraphSchema } = (await import(pathToFileURL(parser).href)) as Parser
    return await getStaticGraphSchema(Object.fromEntries(specs), { timeoutMs: TIMEOUT_MS })
  } catch (error) {
    console.error('agentwire: the types of the graphs cannot be read, so that their schemas are null.', error)
    return {}
  }
}

function parserOf(folder: string): string | undefined {
  try {
    return createRequire(join(folder, 'package.json')).resolve('@langchain/langgraph-api/schema')
  } catch {
    return undefined
  }
}
