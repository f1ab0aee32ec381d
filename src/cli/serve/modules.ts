import { existsSync } from 'node:fs'
import { createRequire, register } from 'node:module'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ConfigError, type ExportPath } from './config-reader.ts'
import { loadTypeScript } from './typescript.ts'

/** Loads the exports of project files. */
export interface Modules {
  /** The value of an export. Throws `ConfigError`. */
  load(path: ExportPath): Promise<unknown>
  /** Makes later loads read the project's files again, including their imports. Packages stay loaded. */
  renew(): void
}

export interface ModulesOptions {
  readonly folder: string
  /** The name of the config, for messages. */
  readonly config: string
  /** Whether `renew` will be called. */
  readonly renewable: boolean
}

/** Marks the modules of one load of the project. */
const MARK = 'agentwire-reload'

/**
 * Runs in Node's thread for module hooks. The project's modules that a marked module imports get the same
 * mark, and so are read again with it. Modules are identified by their complete URL.
 */
const HOOKS = `
const mark = /[?&]${MARK}=\\d+/
export async function resolve(specifier, context, next) {
  const found = await next(specifier, context)
  const [given] = mark.exec(context.parentURL ?? '') ?? []
  const isOfProject = found.url.startsWith('file:') && !found.url.includes('/node_modules/')
  if (given === undefined || !isOfProject || mark.test(found.url)) return found
  return { ...found, url: found.url + (found.url.includes('?') ? '&' : '?') + given.slice(1) }
}
`

export function projectModules({ folder, config, renewable }: ModulesOptions): Modules {
  let version = 0
  const require = createRequire(join(folder, 'package.json'))
  let typescript: Promise<string | undefined> | undefined
  let hooked = false
  return {
    async load({ key, file, symbol }) {
      const path = resolve(folder, file)
      const where = `${config}: ${key}`
      if (!existsSync(path)) throw new ConfigError(`${where} names ${file}, but ${path} does not exist.`)
      const hint = /\.[cm]?tsx?$/.test(file) ? await (typescript ??= loadTypeScript(folder)) : undefined
      if (renewable && !hooked) {
        // After tsx: hooks that are registered later are called first, and this one calls the others.
        register(`data:text/javascript,${encodeURIComponent(HOOKS)}`)
        hooked = true
      }
      const url = pathToFileURL(path).href + (renewable ? `?${MARK}=${version}` : '')
      const module = await importModule(url, `${where}: ${file} cannot be loaded`, hint)
      const value = exported(module, symbol)
      if (value !== undefined) return value
      const known = Object.keys(module).join(', ') || 'nothing'
      throw new ConfigError(`${where}: ${file} has no export ${symbol}; it exports ${known}.`)
    },
    renew() {
      version++
      for (const path of Object.keys(require.cache))
        if (!/[\\/]node_modules[\\/]/.test(path)) delete require.cache[path]
    },
  }
}

async function importModule(
  url: string,
  problem: string,
  hint: string | undefined,
): Promise<Readonly<Record<string, unknown>>> {
  try {
    return await import(url)
  } catch (cause) {
    const advice = hint !== undefined && cause instanceof SyntaxError ? ` (${hint.replace(/\.$/, '')})` : ''
    throw new ConfigError(problem + advice, { cause })
  }
}

/** An export by its name. CommonJS exports are also in the default export if Node cannot see their names. */
function exported(module: Readonly<Record<string, unknown>>, symbol: string): unknown {
  const common = Object(module.default) as Readonly<Record<string, unknown>>
  if (symbol !== 'default') return module[symbol] ?? common[symbol]
  return common.__esModule ? common.default : module.default
}
