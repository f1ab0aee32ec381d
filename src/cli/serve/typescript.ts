import { existsSync } from 'node:fs'
import { createRequire, register } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { ConfigError } from './config-reader.ts'

interface Loader {
  register(options?: { readonly tsconfig?: string | false }): unknown
}

/** The fields of tsx's package.json that are read. */
interface Manifest {
  readonly exports: Readonly<Record<string, { readonly import: { readonly default: string } }>>
}

/**
 * Lets this process import TypeScript: with `tsx`, of the project or of this package, otherwise with the
 * project's compiler, otherwise with Node's type stripping (22.18 and later). In all of them, `./x.js` means
 * `x.ts` if there is no `x.js`. Returns advice for files that cannot be read this way, as a sentence.
 */
export async function loadTypeScript(folder: string): Promise<string | undefined> {
  const places = [join(folder, 'package.json'), fileURLToPath(import.meta.url)]
  const tsx = places.map((place) => createRequire(place)).find((from) => resolved(from, 'tsx/esm/api'))
  if (tsx) {
    await registerTsx(tsx, folder)
    return undefined
  }
  const compiler = places.map(compilerFor).find((path) => path !== undefined)
  const stripsTypes = (process.features as { readonly typescript?: string | false }).typescript
  if (compiler === undefined && !stripsTypes)
    throw new ConfigError(
      `Node ${process.versions.node} cannot load TypeScript, and no compiler was found. Run “npm install typescript” (or tsx) in ${folder}, or use Node 22.18 or later.`,
    )
  register(`data:text/javascript,${encodeURIComponent(HOOKS)}`, { data: { compiler, folder } })
  return compiler === undefined
    ? `Node only strips types, so enums and type imports without the keyword “type” fail: run “npm install typescript” (or tsx) in ${folder}.`
    : undefined
}

async function registerTsx(require: NodeJS.Require, folder: string): Promise<void> {
  const manifest = require.resolve('tsx/package.json')
  const { exports } = require(manifest) as Manifest
  // As ES modules: from CommonJS, some tsx releases do not find their own files.
  const load = async (entry: string): Promise<Loader> =>
    import(pathToFileURL(join(dirname(manifest), exports[entry]!.import.default)).href)
  const config = join(folder, 'tsconfig.json')
  const options = existsSync(config) ? { tsconfig: config } : {}
  // Both, because a TypeScript file is an ES module or CommonJS, depending on its package.json.
  ;(await load('./cjs/api')).register()
  ;(await load('./esm/api')).register(options)
}

/** The path of a compiler that JavaScript can call. TypeScript 7's cannot be called. */
export function compilerFor(place: string): string | undefined {
  const require = createRequire(place)
  const manifest = resolved(require, 'typescript/package.json')
  if (manifest === undefined) return undefined
  const { version } = require(manifest) as { readonly version: string }
  return Number.parseInt(version, 10) < 7 ? resolved(require, 'typescript') : undefined
}

function resolved(require: NodeJS.Require, entry: string): string | undefined {
  try {
    return require.resolve(entry)
  } catch {
    return undefined
  }
}

/**
 * Runs in Node's thread for module hooks. The compiler resolves the project's files with its tsconfig.json,
 * and translates each file separately to an ES module, without type imports. Without a compiler, Node does
 * the rest.
 */
const HOOKS = `
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
let ts, options
export function initialize({ compiler, folder }) {
  if (compiler === undefined) return
  ts = createRequire(compiler)(compiler)
  const file = ts.findConfigFile(folder, ts.sys.fileExists)
  const given = file ? ts.readConfigFile(file, ts.sys.readFile).config : {}
  const own = ts.parseJsonConfigFileContent(given ?? {}, ts.sys, file ? dirname(file) : folder).options
  const { jsx, jsxImportSource, experimentalDecorators, emitDecoratorMetadata, useDefineForClassFields, baseUrl, paths, pathsBasePath } = own
  options = {
    jsx: jsx === undefined || jsx === ts.JsxEmit.Preserve ? ts.JsxEmit.ReactJSX : jsx,
    jsxImportSource, experimentalDecorators, emitDecoratorMetadata, useDefineForClassFields, baseUrl, paths, pathsBasePath,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    allowJs: true,
    inlineSourceMap: true,
    inlineSources: true,
  }
}
const isOfProject = (url) => url !== undefined && url.startsWith('file:') && !url.includes('/node_modules/')
const SOURCE = /\\.[cm]?tsx?$/
const source = (path) => {
  const plain = path.replace(/\\.([cm]?)jsx?$/, '.$1ts')
  return [plain, plain + 'x'].find((one) => one !== path && SOURCE.test(one) && existsSync(one))
}
function found(specifier, importer) {
  if (!ts) return /^\\.\\.?\\//.test(specifier) ? source(join(dirname(importer), specifier)) : undefined
  const { resolvedModule: module } = ts.resolveModuleName(specifier, importer, options, ts.sys)
  if (!module || module.isExternalLibraryImport || /\\.d\\.[cm]?ts$/.test(module.resolvedFileName)) return undefined
  return SOURCE.test(module.resolvedFileName) ? module.resolvedFileName : undefined
}
export async function resolve(specifier, context, next) {
  try {
    return await next(specifier, context)
  } catch (error) {
    if (!isOfProject(context.parentURL)) throw error
    const path = found(specifier, fileURLToPath(new URL(context.parentURL)))
    if (path === undefined) throw error
    return next(pathToFileURL(path).href, context)
  }
}
export async function load(url, context, next) {
  if (!ts || !isOfProject(url)) return next(url, context)
  const fileName = fileURLToPath(new URL(url))
  if (!SOURCE.test(fileName)) return next(url, context)
  const text = readFileSync(fileName, 'utf8')
  const reported = ts.transpileModule(text, { fileName, reportDiagnostics: true, compilerOptions: options })
  const wrong = reported.diagnostics.find(({ category }) => category === ts.DiagnosticCategory.Error)
  if (wrong) {
    const { line, character } = ts.getLineAndCharacterOfPosition(wrong.file, wrong.start)
    throw new SyntaxError(fileName + ':' + (line + 1) + ':' + character + ': ' + ts.flattenDiagnosticMessageText(wrong.messageText, ' '))
  }
  return { format: 'module', shortCircuit: true, source: reported.outputText }
}
`
