import { readdirSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join, posix, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { expect, test } from 'vitest'

/** What each module may import of the others: always downwards. */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  'src/errors': [],
  'src/version': [],
  'src/nearest': [],
  'src/options': ['src/errors', 'src/nearest'],
  'src/bytes': [],
  'src/time': [],
  'src/lazy': [],
  'src/metadata-filter': [],
  'src/principal': ['src/metadata-filter'],
  'src/sha256': [],
  'src/ids': ['src/bytes', 'src/sha256'],
  'src/http': ['src/options', 'src/errors', 'src/principal'],
  'src/messages': [],
  // Of pages alone: nothing of a server may come along.
  'src/react': [],
  'src/events': ['src/messages'],
  'src/formats': ['src/messages'],
  'src/tracing': ['src/options', 'src/errors', 'src/ids', 'src/messages', 'src/formats'],
  'src/storage': ['src/options', 'src/errors', 'src/bytes', 'src/time', 'src/ids'],
  // Requests to URLs that others have chosen.
  'src/egress': ['src/options', 'src/errors', 'src/bytes'],
  'src/jobs': ['src/errors', 'src/time', 'src/storage', 'src/egress'],
  // LangGraph's `BaseStore` over the Store.
  'src/graph-store': [
    'src/options',
    'src/errors',
    'src/bytes',
    'src/time',
    'src/ids',
    'src/principal',
    'src/storage',
  ],
  'src/agents': [
    'src/lazy',
    'src/options',
    'src/errors',
    'src/time',
    'src/principal',
    'src/ids',
    'src/events',
    'src/messages',
    'src/formats',
    'src/tracing',
    'src/storage',
    'src/graph-store',
  ],
  'src/runs': [
    'src/lazy',
    'src/nearest',
    'src/options',
    'src/errors',
    'src/bytes',
    'src/time',
    'src/metadata-filter',
    'src/principal',
    'src/ids',
    'src/events',
    'src/messages',
    'src/storage',
    'src/graph-store',
    'src/jobs',
    'src/agents',
  ],
  // Assistants: an agent with a config of its own, in the Store.
  'src/assistants': [
    'src/errors',
    'src/bytes',
    'src/time',
    'src/metadata-filter',
    'src/principal',
    'src/ids',
    'src/storage',
    'src/agents',
    'src/runs',
  ],
  'src/face': [
    'src/options',
    'src/errors',
    'src/time',
    'src/bytes',
    'src/metadata-filter',
    'src/principal',
    'src/sha256',
    'src/ids',
    'src/http',
    'src/events',
    'src/messages',
    'src/agents',
    'src/runs',
    'src/assistants',
  ],
  'src/threads': [
    'src/lazy',
    'src/nearest',
    'src/options',
    'src/errors',
    'src/time',
    'src/bytes',
    'src/principal',
    'src/ids',
    'src/http',
    'src/events',
    'src/messages',
    'src/storage',
    'src/agents',
    'src/runs',
    'src/assistants',
    'src/face',
  ],
  'src/mcp': [
    'src/lazy',
    'src/options',
    'src/version',
    'src/errors',
    'src/time',
    'src/principal',
    'src/ids',
    'src/http',
    'src/events',
    'src/messages',
    'src/storage',
    'src/agents',
    'src/runs',
    'src/assistants',
    'src/face',
  ],
  'src/platform': [
    'src/lazy',
    'src/options',
    'src/version',
    'src/errors',
    'src/metadata-filter',
    'src/principal',
    'src/ids',
    'src/http',
    'src/events',
    'src/messages',
    'src/time',
    'src/assistants',
    'src/graph-store',
    'src/storage',
    'src/egress',
    'src/jobs',
    'src/agents',
    'src/runs',
    'src/face',
  ],
  'src/a2a': [
    'src/lazy',
    'src/options',
    'src/errors',
    'src/time',
    'src/principal',
    'src/ids',
    'src/http',
    'src/events',
    'src/messages',
    'src/storage',
    'src/egress',
    'src/jobs',
    'src/agents',
    'src/runs',
    'src/face',
  ],
  'src/ag-ui': [
    'src/lazy',
    'src/options',
    'src/version',
    'src/errors',
    'src/principal',
    'src/ids',
    'src/http',
    'src/events',
    'src/messages',
    'src/agents',
    'src/runs',
    'src/face',
  ],
  'src/ai-sdk': [
    'src/lazy',
    'src/options',
    'src/ids',
    'src/http',
    'src/events',
    'src/messages',
    'src/agents',
    'src/runs',
    'src/face',
  ],
  'src/openai': [
    'src/lazy',
    'src/options',
    'src/ids',
    'src/principal',
    'src/http',
    'src/messages',
    'src/storage',
    'src/agents',
    'src/assistants',
    'src/runs',
    'src/face',
  ],
  'src/devtools': [
    'src/options',
    'src/time',
    'src/events',
    'src/messages',
    'src/agents',
    'src/assistants',
    'src/http',
    'src/face',
    'src/runs',
  ],
  'src/control-plane': [
    'src/options',
    'src/errors',
    'src/bytes',
    'src/time',
    'src/principal',
    'src/ids',
    'src/http',
    'src/storage',
    'src/egress',
    'src/jobs',
  ],
  // What clients check with: the schemas of the faces.
  'src/schemas': ['src/face', 'src/threads', 'src/platform'],
  // What tests of agents use.
  'src/testing': ['src/errors', 'src/messages', 'src/formats'],
  'src/opentelemetry': ['src/options', 'src/agents', 'src/runs'],
  'src/audit': [
    'src/options',
    'src/errors',
    'src/http',
    'src/events',
    'src/messages',
    'src/storage',
    'src/graph-store',
    'src/agents',
  ],
  // Composes the groups over one engine; src/index only names what is public.
  'src/about': ['src/http', 'src/face'],
  'src/server': [
    'src/about',
    'src/options',
    'src/version',
    'src/errors',
    'src/http',
    'src/storage',
    'src/agents',
    'src/runs',
    'src/face',
    'src/threads',
    'src/platform',
    'src/a2a',
    'src/devtools',
    'src/control-plane',
  ],
  'src/index': [
    'src/server',
    'src/errors',
    'src/graph-store',
    'src/http',
    'src/events',
    'src/messages',
    'src/storage',
    'src/agents',
    'src/runs',
    'src/face',
    'src/threads',
    'src/platform',
    'src/a2a',
    'src/devtools',
    'src/control-plane',
  ],
  adapters: ['src/options', 'src/errors', 'src/http'],
  cli: [
    'src/version',
    'src/nearest',
    'adapters',
    'src/errors',
    'src/time',
    'src/graph-store',
    'src/ids',
    'src/http',
    'src/messages',
    'src/formats',
    'src/storage',
    'src/agents',
    'src/runs',
    'src/face',
    'src/threads',
    'src/platform',
    'src/mcp',
    'src/a2a',
    'src/ag-ui',
    'src/ai-sdk',
    'src/openai',
    'src/testing',
    'src/react',
    'src/control-plane',
    'src/server',
  ],
}

/** The files that may load a package at run time. Types of any package may be imported by all. */
const PACKAGES: Readonly<Record<string, RegExp>> = {
  'eventsource-parser':
    /^src\/(tracing\/observe\/observe-response\.ts$|a2a\/|audit\/)|^cli\/(deploy\/|demo\/provider\.ts$)/,
  jose: /^src\/(a2a\/card\/signature|control-plane\/api\/authentication\/jwt)\.ts$/,
  '@modelcontextprotocol/server': /^src\/mcp\//,
  oauth4webapi: /^src\/control-plane\/auth\/oauth-client\.ts$/,
  'modern-tar': /^(?:src\/control-plane\/deployers\/process|cli\/deploy)\//,
  '@kubernetes/client-node': /^src\/control-plane\/deployers\/kubernetes\//,
  // The files of a project, and its own copies of tsx, of the parser of types and of the bundler of components.
  '(computed)': /^cli\/serve\/(graph-types|modules|typescript|ui)\.ts$/,
  langsmith: /^src\/tracing\/sinks\/langsmith\.ts$/,
  '@opentelemetry/api': /^src\/(tracing\/sinks\/opentelemetry\.ts$|opentelemetry\/)/,
  '@langchain/langgraph': /^src\/agents\/langgraph\//,
  pg: /^src\/storage\/postgres\//,
  ioredis: /^src\/storage\/redis\//,
  redis: /^src\/storage\/redis\//,
  libsql: /^src\/storage\/sqlite\//,
  croner: /^src\/platform\/crons\/schedule\.ts$/,
  hono: /^adapters\/hono\.ts$/,
  ws: /^adapters\/node\/sockets\.ts$/,
  // The build puts them into what is published: nobody installs them.
  zod: /^(cli|src\/(face|threads|platform|a2a|openai|ag-ui|ai-sdk|graph-store|audit|control-plane|schemas))\//,
  '@langchain/core': /^src\/react\//,
  '@langchain/react': /^src\/react\//,
  react: /^(src\/react|cli\/demo\/page)\//,
  'react-dom': /^cli\/demo\/page\//,
  marked: /^cli\/demo\/page\//,
  preact: /^src\/devtools\/page\//,
  '@dagrejs/dagre': /^src\/devtools\/page\/model\/graph-layout\.ts$/,
  rfc6902: /^src\/ag-ui\/state\.ts$/,
}

/** The files that may speak to Node itself. */
const NODE_FILES = [
  /^adapters\/node(\.ts$|\/)/,
  /^cli\//,
  /^src\/storage\/(sqlite|postgres|redis)\//,
  /^src\/control-plane\/deployers\//,
  // Reaches Node's modules without importing them: docs/decisions/0010-pinned-requests.md.
  /^src\/egress\/send-by-node\.ts$/,
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

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const files = ['src', 'adapters', 'cli'].flatMap(sourceFiles).map(readSource)

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
  const graph = importsWithin('src/runs')
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
      const [parent, from, to] = forkOf(path, target)
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
  const parsed = parse('src/runs/made-up.ts', text)
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
  return ts.createSourceFile(path, readFileSync(join(root, path), 'utf8'), ts.ScriptTarget.ES2022, true)
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
    else if (ts.isBindingElement(node) || ts.isParameter(node)) declared.add(node.name.getText())
    else if (ts.isIdentifier(node) && NODE_GLOBALS.has(node.text) && isFreeValue(node))
      nodeGlobals.add(node.text)
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true))
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

/** `src/<folder>` for what lies in a folder, `src/<name>` for a file at the top; the adapters are one part. */
function partOf(path: string): string {
  const [top, second] = path.split('/')
  return top === 'src' ? `src/${second!.replace(/\.ts$/, '')}` : top!
}

function packageName(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
}

function isBuiltin(specifier: string): boolean {
  return specifier.startsWith('node:') || builtinModules.includes(specifier)
}

/** The files of a folder, with those of the same folder that they import. */
function importsWithin(folder: string): ReadonlyMap<string, readonly string[]> {
  const inside = files.filter(({ path }) => path.startsWith(`${folder}/`))
  return new Map(
    inside.map(({ path, imports }) => [
      path,
      imports.flatMap(({ target }) => (target?.startsWith(`${folder}/`) ? [target] : [])),
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
