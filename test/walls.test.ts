import { readdirSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join, posix, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { library } from '../.ci/entries.mjs'

/** What each module may import of the others: always downwards. */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  'src/core/errors': [],
  'src/core/version': [],
  'src/core/nearest': [],
  'src/core/options': ['src/core/errors', 'src/core/nearest'],
  'src/core/bytes': [],
  'src/core/time': [],
  'src/core/filtered-page': [],
  'src/core/lazy': [],
  'src/core/record': [],
  'src/core/metadata-filter': [],
  'src/core/principal': ['src/core/metadata-filter'],
  'src/core/ids': ['src/core/bytes'],
  'src/core/http': ['src/core/bytes', 'src/core/options', 'src/core/errors', 'src/core/principal'],
  'src/messages': ['src/core/record'],
  // Of pages alone: nothing of a server may come along.
  'src/clients/react': [],
  'src/messages/thread-events': ['src/messages'],
  'src/models/formats': ['src/messages'],
  'src/models/tracing': [
    'src/core/bytes',
    'src/core/options',
    'src/core/errors',
    'src/core/ids',
    'src/messages',
    'src/models/formats',
  ],
  'src/storage': [
    'src/core/lazy',
    'src/core/options',
    'src/core/errors',
    'src/core/bytes',
    'src/core/filtered-page',
    'src/core/time',
    'src/core/ids',
  ],
  // Requests to URLs that others have chosen.
  'src/core/egress': ['src/core/options', 'src/core/errors', 'src/core/bytes'],
  'src/storage/jobs': ['src/core/errors', 'src/core/time', 'src/storage', 'src/core/egress'],
  // LangGraph's `BaseStore` over the Store.
  'src/storage/graph-store': [
    'src/core/record',
    'src/core/options',
    'src/core/errors',
    'src/core/bytes',
    'src/core/time',
    'src/core/ids',
    'src/core/principal',
    'src/storage',
  ],
  'src/agents': [
    'src/core/lazy',
    'src/core/options',
    'src/core/errors',
    'src/core/time',
    'src/core/principal',
    'src/core/ids',
    'src/messages/thread-events',
    'src/messages',
    'src/models/formats',
    'src/models/tracing',
    'src/storage',
    'src/storage/graph-store',
  ],
  'src/engine': [
    'src/core/lazy',
    'src/core/nearest',
    'src/core/options',
    'src/core/errors',
    'src/core/bytes',
    'src/core/filtered-page',
    'src/core/time',
    'src/core/metadata-filter',
    'src/core/principal',
    'src/core/ids',
    'src/messages/thread-events',
    'src/messages',
    'src/storage',
    'src/storage/graph-store',
    'src/storage/jobs',
    'src/agents',
  ],
  // Assistants: an agent with a config of its own, in the Store.
  'src/engine/assistants': [
    'src/core/errors',
    'src/core/bytes',
    'src/core/filtered-page',
    'src/core/time',
    'src/core/metadata-filter',
    'src/core/principal',
    'src/core/ids',
    'src/storage',
    'src/agents',
    'src/engine',
  ],
  'src/faces/kit': [
    'src/core/lazy',
    'src/core/options',
    'src/core/errors',
    'src/core/time',
    'src/core/bytes',
    'src/core/metadata-filter',
    'src/core/principal',
    'src/core/ids',
    'src/core/http',
    'src/messages/thread-events',
    'src/messages',
    'src/agents',
    'src/engine',
    'src/engine/assistants',
  ],
  'src/faces/threads': [
    'src/core/lazy',
    'src/core/nearest',
    'src/core/options',
    'src/core/errors',
    'src/core/filtered-page',
    'src/core/time',
    'src/core/bytes',
    'src/core/principal',
    'src/core/ids',
    'src/core/http',
    'src/messages/thread-events',
    'src/messages',
    'src/storage',
    'src/agents',
    'src/engine',
    'src/engine/assistants',
    'src/faces/kit',
  ],
  'src/faces/mcp': [
    'src/core/lazy',
    'src/core/options',
    'src/core/version',
    'src/core/errors',
    'src/core/time',
    'src/core/principal',
    'src/core/ids',
    'src/core/http',
    'src/messages/thread-events',
    'src/messages',
    'src/storage',
    'src/agents',
    'src/engine',
    'src/engine/assistants',
    'src/faces/kit',
  ],
  'src/faces/rest': [
    'src/core/lazy',
    'src/core/options',
    'src/core/version',
    'src/core/errors',
    'src/core/metadata-filter',
    'src/core/principal',
    'src/core/ids',
    'src/core/http',
    'src/messages/thread-events',
    'src/messages',
    'src/core/filtered-page',
    'src/core/time',
    'src/engine/assistants',
    'src/storage/graph-store',
    'src/storage',
    'src/core/egress',
    'src/storage/jobs',
    'src/agents',
    'src/engine',
    'src/faces/kit',
  ],
  'src/faces/a2a': [
    'src/core/lazy',
    'src/core/options',
    'src/core/errors',
    'src/core/time',
    'src/core/principal',
    'src/core/ids',
    'src/core/http',
    'src/messages/thread-events',
    'src/messages',
    'src/storage',
    'src/core/egress',
    'src/storage/jobs',
    'src/agents',
    'src/engine',
    'src/faces/kit',
  ],
  'src/faces/ag-ui': [
    'src/core/lazy',
    'src/core/options',
    'src/core/version',
    'src/core/errors',
    'src/core/principal',
    'src/core/ids',
    'src/core/http',
    'src/messages/thread-events',
    'src/messages',
    'src/agents',
    'src/engine',
    'src/faces/kit',
  ],
  'src/faces/ai-sdk': [
    'src/core/lazy',
    'src/core/options',
    'src/core/ids',
    'src/core/http',
    'src/messages/thread-events',
    'src/messages',
    'src/agents',
    'src/engine',
    'src/faces/kit',
  ],
  'src/faces/openai': [
    'src/core/lazy',
    'src/core/options',
    'src/core/ids',
    'src/core/principal',
    'src/core/http',
    'src/messages',
    'src/storage',
    'src/agents',
    'src/engine/assistants',
    'src/engine',
    'src/faces/kit',
  ],
  'src/ops/devtools': [
    'src/core/options',
    'src/core/filtered-page',
    'src/core/time',
    'src/messages/thread-events',
    'src/messages',
    'src/agents',
    'src/engine/assistants',
    'src/core/http',
    'src/faces/kit',
    'src/engine',
  ],
  'src/control-plane': [
    'src/core/record',
    'src/core/options',
    'src/core/errors',
    'src/core/bytes',
    'src/core/time',
    'src/core/principal',
    'src/core/ids',
    'src/core/http',
    'src/storage',
    'src/core/egress',
    'src/storage/jobs',
  ],
  // What clients check with: the schemas of the faces.
  'src/faces/schemas': ['src/faces/kit', 'src/faces/threads', 'src/faces/rest'],
  // What tests of agents use.
  'src/agents/testing': ['src/core/errors', 'src/messages', 'src/models/formats'],
  'src/ops/opentelemetry': ['src/core/options', 'src/agents', 'src/engine'],
  'src/audit': [
    'src/core/options',
    'src/core/errors',
    'src/core/http',
    'src/messages/thread-events',
    'src/messages',
    'src/storage',
    'src/storage/graph-store',
    'src/agents',
  ],
  // Composes the groups over one engine; src/index only names what is public.
  'src/faces/about': ['src/core/http', 'src/faces/kit'],
  'src/server': [
    'src/faces/about',
    'src/core/options',
    'src/core/version',
    'src/core/errors',
    'src/core/http',
    'src/storage',
    'src/agents',
    'src/engine',
    'src/faces/kit',
    'src/faces/threads',
    'src/faces/rest',
    'src/faces/a2a',
    'src/ops/devtools',
    'src/control-plane',
  ],
  'src/index': [
    'src/server',
    'src/core/errors',
    'src/storage/graph-store',
    'src/core/http',
    'src/messages/thread-events',
    'src/messages',
    'src/storage',
    'src/agents',
    'src/engine',
    'src/faces/kit',
    'src/faces/threads',
    'src/faces/rest',
    'src/faces/a2a',
    'src/ops/devtools',
    'src/control-plane',
  ],
  adapters: ['src/core/options', 'src/core/errors', 'src/core/http'],
  'src/cli': [
    'src/index',
    'src/core/version',
    'src/core/nearest',
    'adapters',
    'src/core/errors',
    'src/core/time',
    'src/storage/graph-store',
    'src/core/ids',
    'src/core/http',
    'src/messages',
    'src/models/formats',
    'src/storage',
    'src/agents',
    'src/engine',
    'src/faces/kit',
    'src/faces/threads',
    'src/faces/rest',
    'src/faces/mcp',
    'src/faces/a2a',
    'src/faces/ag-ui',
    'src/faces/ai-sdk',
    'src/faces/openai',
    'src/agents/testing',
    'src/clients/react',
    'src/control-plane',
  ],
}

/** The files that may load a package at run time. Types of any package may be imported by all. */
const PACKAGES: Readonly<Record<string, RegExp>> = {
  'eventsource-parser':
    /^src\/(models\/tracing\/observe\/observe-response\.ts$|faces\/a2a\/|audit\/)|^src\/cli\/(deploy\/|demo\/demo\.ts$)/,
  jose: /^src\/(faces\/a2a\/card\/signature|control-plane\/api\/authentication\/jwt)\.ts$/,
  '@modelcontextprotocol/server': /^src\/faces\/mcp\//,
  oauth4webapi: /^src\/control-plane\/auth\/oauth-client\.ts$/,
  'modern-tar': /^src\/(?:control-plane\/deployers\/process|cli\/deploy)\//,
  '@kubernetes/client-node': /^src\/control-plane\/deployers\/kubernetes\//,
  // The files of a project, and its own copies of tsx, of the parser of types and of the bundler of components.
  '(computed)': /^src\/cli\/serve\/(graph-types|modules|typescript|ui)\.ts$/,
  langsmith: /^src\/models\/tracing\/sinks\/langsmith\.ts$/,
  '@opentelemetry/api': /^src\/(models\/tracing\/sinks\/opentelemetry\.ts$|ops\/opentelemetry\/)/,
  '@langchain/langgraph': /^src\/agents\/langgraph\//,
  pg: /^src\/storage\/postgres\//,
  ioredis: /^src\/storage\/redis\//,
  redis: /^src\/storage\/redis\//,
  libsql: /^src\/storage\/sqlite\//,
  croner: /^src\/faces\/rest\/crons\/schedule\.ts$/,
  hono: /^adapters\/hono\.ts$/,
  ws: /^adapters\/node\/sockets\.ts$/,
  // The build puts them into what is published: nobody installs them.
  zod: /^src\/(cli|faces|storage\/graph-store|audit|control-plane)\//,
  '@langchain/core': /^src\/clients\/react\//,
  '@langchain/react': /^src\/clients\/react\//,
  react: /^src\/(clients\/react|cli\/demo\/page)\//,
  'react-dom': /^src\/cli\/demo\/page\//,
  marked: /^src\/cli\/demo\/page\//,
  preact: /^src\/ops\/devtools\/page\//,
  '@dagrejs/dagre': /^src\/ops\/devtools\/page\/model\/graph-layout\.ts$/,
  rfc6902: /^src\/faces\/ag-ui\/state\.ts$/,
}

/** The files that may speak to Node itself. */
const NODE_FILES = [
  /^adapters\/node(\.ts$|\/)/,
  /^src\/cli\//,
  /^src\/storage\/(sqlite|postgres|redis)\//,
  /^src\/control-plane\/deployers\//,
  // Reaches Node's modules without importing them: docs/decisions/0010-pinned-requests.md.
  /^src\/core\/egress\/send-by-node\.ts$/,
  // Reads the versions of packages in the same way.
  /^src\/agents\/langgraph\/version\.ts$/,
]

const NODE_GLOBALS = new Set([
  'process',
  'Buffer',
  'global',
  '__dirname',
  '__filename',
  'require',
  'module',
  'setImmediate',
])

/** What could be packages of their own. */
const GUESTS = ['src/control-plane', 'src/audit', 'src/cli']
const BELOW = ['src/core', 'src/messages', 'src/storage']
/** The command line reads files of options as the control plane reads bodies, and finds workspaces as it does. */
const OF_CONTROL_PLANE =
  /^src\/control-plane\/(?:wire\/(?:common|problems|source)|deployers\/process\/workspaces)\.ts$/

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const files = ['src', 'adapters'].flatMap(sourceFiles).map(readSource)
const ENTRIES: ReadonlySet<string> = new Set(Object.values(library))

test('every file belongs to a module', () => {
  expect(files.filter((file) => LAYERS[file.part] === undefined).map((file) => file.path)).toEqual([])
})

test('no file imports a part above it or beside it', () => {
  const crossed = files.flatMap((file) =>
    file.imports
      .filter(({ target }) => target !== undefined)
      .filter(({ target }) => partOf(target!) !== file.part && !LAYERS[file.part]?.includes(partOf(target!)))
      .map(({ target }) => `${file.path} -> ${target}`),
  )
  expect(crossed).toEqual([])
})

test('the control plane, the audits and the command line import what is below and public entries', () => {
  const crossed = files.flatMap(({ path, imports }) => {
    const part = GUESTS.find((guest) => path.startsWith(`${guest}/`))
    return imports.flatMap(({ target }) => {
      const isAllowed =
        !part ||
        !target ||
        [part, ...BELOW].some((folder) => target.startsWith(`${folder}/`)) ||
        ENTRIES.has(target) ||
        OF_CONTROL_PLANE.test(target)
      return isAllowed ? [] : [`${path} -> ${target}`]
    })
  })
  expect(crossed).toEqual([])
})

test('the table of modules has no circle', () => {
  expect(circles(new Map(Object.entries(LAYERS)))).toEqual([])
})

test('the files have no circle of imports', () => {
  const graph = new Map(
    files.map((file) => [
      file.path,
      file.imports.flatMap(({ target }) => (target === undefined ? [] : [target])),
    ]),
  )
  expect(circles(graph)).toEqual([])
})

test('the engine is at most eight imports deep', () => {
  const graph = importsWithin('src/engine')
  const floors = new Map<string, number>()
  const floorOf = (path: string): number => {
    const known = floors.get(path)
    if (known !== undefined) return known
    const floor = 1 + Math.max(0, ...graph.get(path)!.map(floorOf))
    floors.set(path, floor)
    return floor
  }
  expect(Math.max(...[...graph.keys()].map(floorOf))).toBeLessThanOrEqual(8)
})

test('folders that share a parent have no circle of imports', () => {
  const graphs = new Map<string, Map<string, string[]>>()
  for (const { path, imports } of files) {
    for (const { target } of imports) {
      if (target === undefined) continue
      const [parent, from, to] = forkOf(floorOfPath(path), floorOfPath(target))
      if (!from.folder || !to.folder) continue
      const graph = graphs.get(parent) ?? new Map<string, string[]>()
      graphs.set(parent, graph.set(from.name, [...(graph.get(from.name) ?? []), to.name]))
    }
  }
  const found = [...graphs].flatMap(([parent, graph]) =>
    circles(graph).map((circle) => `${parent}: ${circle}`),
  )
  expect(found).toEqual([])
})

test('one function decides what an object with fields is', () => {
  const again = files.filter(
    ({ path }) =>
      !path.startsWith('src/ops/devtools/page/') &&
      path !== 'src/core/record.ts' &&
      /typeof (\w+) === 'object' &&\s+\1 !== null &&\s+!Array\.isArray\(\1\)/.test(
        readFileSync(join(root, path), 'utf8'),
      ),
  )
  expect(again.map(({ path }) => path)).toEqual([])
})

test('packages are loaded only where they belong', () => {
  const loaded = files.flatMap((file) =>
    file.imports
      .filter(({ target, specifier, typeOnly }) => target === undefined && !typeOnly && !isBuiltin(specifier))
      .filter(({ specifier }) => !PACKAGES[packageName(specifier)]?.test(file.path))
      .map(({ specifier }) => `${file.path} -> ${specifier}`),
  )
  expect(loaded).toEqual([])
})

test('node: modules and Node globals stay in the Node adapter, the storage backends and the deployers', () => {
  const outside = files.filter((file) => !NODE_FILES.some((pattern) => pattern.test(file.path)))
  const found = outside.flatMap((file) => [
    ...file.imports
      .filter(({ specifier }) => isBuiltin(specifier))
      .map(({ specifier }) => `${file.path} -> ${specifier}`),
    ...file.nodeGlobals.map((name) => `${file.path} uses ${name}`),
  ])
  expect(found).toEqual([])
})

test('relative imports name a file that exists, with its ending', () => {
  const known = new Set(files.map((file) => file.path))
  const broken = files.flatMap((file) =>
    file.imports
      .filter(({ target }) => target !== undefined && !known.has(target))
      .map(({ specifier }) => `${file.path} -> ${specifier}`),
  )
  expect(broken).toEqual([])
})

test("a folder's index.ts only re-exports", () => {
  const deciding = files.filter(
    ({ path }) => /^src\/.+\/index\.ts$/.test(path) && !readSourceFile(path).statements.every(isReExport),
  )
  expect(deciding.map((file) => file.path)).toEqual([])
})

test('the walls notice what they forbid', () => {
  const text =
    "import { a } from '../adapters/x.ts'\nimport type { B } from 'zod'\nexport * from 'node:fs'\nvoid import('hono')\nvoid import(name)\nBuffer.from(process.argv[0])"
  const parsed = parse('src/engine/made-up.ts', text)
  expect(parsed.imports).toEqual([
    { specifier: '../adapters/x.ts', target: 'src/adapters/x.ts', typeOnly: false },
    { specifier: 'zod', target: undefined, typeOnly: true },
    { specifier: 'node:fs', target: undefined, typeOnly: false },
    { specifier: 'hono', target: undefined, typeOnly: false },
    { specifier: '(computed)', target: undefined, typeOnly: false },
  ])
  expect(parsed.nodeGlobals).toEqual(['Buffer', 'process'])
  expect(
    circles(
      new Map([
        ['a', ['b']],
        ['b', ['c']],
        ['c', ['a']],
        ['d', ['a']],
      ]),
    ),
  ).toEqual(['a -> b -> c -> a'])
})

/** The command line uses the adapters, which use the rest of `src`: it is a floor of its own. */
const floorOfPath = (path: string): string => path.replace(/^src\/cli\//, 'cli/')

interface Node {
  readonly name: string
  readonly folder: boolean
}

/** The folder that two paths share, and the entries of it that they lie in. */
function forkOf(one: string, other: string): readonly [parent: string, one: Node, other: Node] {
  const [a, b] = [one.split('/'), other.split('/')]
  const depth = a.findIndex((segment, at) => segment !== b[at])
  const entry = (segments: readonly string[]): Node => ({
    name: segments[depth] ?? '',
    folder: depth < segments.length - 1,
  })
  return [a.slice(0, depth).join('/'), entry(a), entry(b)]
}

interface Import {
  readonly specifier: string
  /** The path from the root, for a relative import. */
  readonly target: string | undefined
  readonly typeOnly: boolean
}

interface Source {
  readonly path: string
  readonly part: string
  readonly imports: readonly Import[]
  readonly nodeGlobals: readonly string[]
}

/** What is known only at run time has no name. */
function specifierOf(node: ts.Expression): string {
  return ts.isStringLiteralLike(node) ? node.text : '(computed)'
}

function sourceFiles(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .sort()
}

function readSource(path: string): Source {
  return parse(path, readFileSync(join(root, path), 'utf8'))
}

function readSourceFile(path: string): ts.SourceFile {
  return sourceOf(path, readFileSync(join(root, path), 'utf8'))
}

/** Without its comments, which take long to parse. */
function sourceOf(path: string, text: string): ts.SourceFile {
  const options = {
    languageVersion: ts.ScriptTarget.ES2022,
    jsDocParsingMode: ts.JSDocParsingMode.ParseNone,
  }
  return ts.createSourceFile(path, text, options, true)
}

function parse(path: string, text: string): Source {
  const imports: Import[] = []
  const nodeGlobals = new Set<string>()
  const declared = new Set<string>()
  const add = (specifier: string, typeOnly: boolean) => {
    const target = specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : undefined
    imports.push({ specifier, target, typeOnly })
  }
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) add((node.moduleSpecifier as ts.StringLiteral).text, isTypeOnly(node))
    else if (ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined)
      add((node.moduleSpecifier as ts.StringLiteral).text, node.isTypeOnly)
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      add(specifierOf(node.arguments[0]!), false)
    else if (ts.isImportTypeNode(node)) add(node.argument.getText().slice(1, -1), true)
    else if (ts.isBindingElement(node) || ts.isParameter(node)) {
      if (ts.isIdentifier(node.name)) declared.add(node.name.text)
    } else if (ts.isIdentifier(node) && NODE_GLOBALS.has(node.text) && isFreeValue(node))
      nodeGlobals.add(node.text)
    ts.forEachChild(node, visit)
  }
  visit(sourceOf(path, text))
  return {
    path,
    part: partOf(path),
    imports,
    nodeGlobals: [...nodeGlobals].filter((name) => !declared.has(name)),
  }
}

function isTypeOnly({ importClause }: ts.ImportDeclaration): boolean {
  return importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword
}

/** An identifier that reads a variable, not a property, a key or a name being declared. */
function isFreeValue(node: ts.Identifier): boolean {
  const { parent } = node
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node
  if (ts.isPropertyAssignment(parent)) return parent.initializer === node
  return ts.isExpression(parent) || ts.isStatement(parent) || ts.isShorthandPropertyAssignment(parent)
}

function isReExport(statement: ts.Statement): boolean {
  return ts.isExportDeclaration(statement) && statement.moduleSpecifier !== undefined
}

/** The innermost part of the table that has the file: `src/engine/assistants` before `src/engine`. */
function partOf(path: string): string {
  const parts = Object.keys(LAYERS).filter((part) => path === `${part}.ts` || path.startsWith(`${part}/`))
  return parts.sort((a, b) => b.length - a.length)[0] ?? path
}

function packageName(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
}

function isBuiltin(specifier: string): boolean {
  return specifier.startsWith('node:') || builtinModules.includes(specifier)
}

/** The files of a part, with those of the same part that they import. */
function importsWithin(part: string): ReadonlyMap<string, readonly string[]> {
  const inside = files.filter((file) => file.part === part)
  return new Map(
    inside.map(({ path, imports }) => [
      path,
      imports.flatMap(({ target }) => (target !== undefined && partOf(target) === part ? [target] : [])),
    ]),
  )
}

/** Each circle once, written from its first node in order of discovery. */
function circles(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const found: string[] = []
  const done = new Set<string>()
  const walk = (node: string, path: readonly string[]): void => {
    const at = path.indexOf(node)
    if (at >= 0) found.push([...path.slice(at), node].join(' -> '))
    if (at >= 0 || done.has(node)) return
    for (const next of graph.get(node) ?? []) walk(next, [...path, node])
    done.add(node)
  }
  for (const node of graph.keys()) walk(node, [])
  return found
}
