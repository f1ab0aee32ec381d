import { AgentwireError } from '../errors.ts'
import { HttpError } from './errors.ts'
import type { Endpoint, LaterRows, Route, RouteKind } from './types.ts'

export type Match =
  | {
      readonly kind: 'endpoint'
      readonly endpoint: Endpoint
      readonly pattern: string
      readonly routeKind: RouteKind | undefined
      /** Decoded, in an object without a prototype: `__proto__` is a valid id. */
      readonly params: Readonly<Record<string, string>>
    }
  /** The path matches only routes with other methods. `allow` is the list for the `Allow` header. */
  | { readonly kind: 'method'; readonly allow: readonly string[] }
  | { readonly kind: 'none' }

export interface Router {
  /**
   * Takes the raw pathname of a URL, percent-encoded. Throws `HttpError` 400 for malformed escapes in
   * parameters.
   */
  match(method: string, pathname: string): Match
}

interface Leaf {
  readonly endpoint: Endpoint
  readonly pattern: string
  readonly routeKind: RouteKind | undefined
  readonly names: readonly string[]
}

interface Node {
  readonly children: Map<string, Node>
  readonly leaves: Map<string, Leaf>
  param: Node | undefined
}

/**
 * A trie over the raw segments of a path. A static segment takes precedence over a parameter, unless only the
 * parameter's route has the method. A parameter takes one non-empty segment and is decoded once, so `a%2Fb`
 * is an id. One trailing slash is accepted. HEAD requests use the GET route.
 */
export function createRouter(routes: readonly Route[]): Router {
  const root = createNode()
  for (const route of routes) insert(root, route)
  return {
    match(method, pathname) {
      const segments = split(pathname)
      const allow = new Set<string>()
      const values: string[] = []
      const leaf = find(root, method === 'HEAD' ? 'GET' : method, segments, values, allow)
      if (leaf !== undefined)
        return {
          kind: 'endpoint',
          endpoint: leaf.endpoint,
          pattern: leaf.pattern,
          routeKind: leaf.routeKind,
          params: decode(leaf.names, values),
        }
      return allow.size === 0 ? { kind: 'none' } : { kind: 'method', allow: withImplied(allow) }
    },
  }
}

/**
 * The pathname below a mount prefix, otherwise undefined. `/api` contains `/api` and `/api/x`, not `/apis`.
 */
export function stripBase(pathname: string, basePath: string): string | undefined {
  const base = normalizeBase(basePath)
  if (!pathname.startsWith(base)) return undefined
  const rest = pathname.slice(base.length)
  return rest === '' || rest.startsWith('/') ? rest : undefined
}

/** `api`, `/api` and `/api/` are the same prefix; `/` is the empty prefix. */
export function normalizeBase(basePath: string): string {
  const base = basePath.endsWith('/') ? basePath.slice(0, -1) : basePath
  return base === '' || base.startsWith('/') ? base : `/${base}`
}

function createNode(): Node {
  return { children: new Map(), leaves: new Map(), param: undefined }
}

function insert(root: Node, [method, pattern, endpoint, routeKind]: Route): void {
  if (!pattern.startsWith('/'))
    throw new AgentwireError('invalid_route', `The pattern ${pattern} must begin with "/".`)
  const names: string[] = []
  let node = root
  for (const segment of split(pattern)) {
    if (segment.startsWith(':')) {
      names.push(segment.slice(1))
      node = node.param ??= createNode()
    } else {
      let child = node.children.get(segment)
      if (child === undefined) node.children.set(segment, (child = createNode()))
      node = child
    }
  }
  if (node.leaves.has(method))
    throw new AgentwireError('duplicate_route', `Two routes answer ${method} ${pattern}.`)
  node.leaves.set(method, { endpoint, pattern, routeKind, names })
}

/**
 * Walks the trie. Collects raw parameter values in `values`, and methods of all matching paths in `allow`.
 */
function find(
  node: Node,
  method: string,
  segments: readonly string[],
  values: string[],
  allow: Set<string>,
  depth = 0,
): Leaf | undefined {
  const segment = segments[depth]
  if (segment === undefined) {
    for (const other of node.leaves.keys()) allow.add(other)
    return node.leaves.get(method)
  }
  const child = node.children.get(segment)
  const leaf = child && find(child, method, segments, values, allow, depth + 1)
  if (leaf !== undefined || node.param === undefined || segment === '') return leaf
  values.push(segment)
  const paramLeaf = find(node.param, method, segments, values, allow, depth + 1)
  if (paramLeaf === undefined) values.pop()
  return paramLeaf
}

function split(pathname: string): string[] {
  const segments = pathname.split('/')
  segments.shift()
  if (segments.at(-1) === '') segments.pop()
  return segments
}

function withImplied(allow: Set<string>): string[] {
  if (allow.has('GET')) allow.add('HEAD')
  return [...allow.add('OPTIONS')]
}

function decode(names: readonly string[], values: readonly string[]): Record<string, string> {
  const params: Record<string, string> = Object.create(null)
  try {
    for (const [index, name] of names.entries()) params[name] = decodeURIComponent(values[index] ?? '')
  } catch (cause) {
    throw new HttpError(400, 'invalid_path', 'The path has a malformed percent-escape.', { cause })
  }
  return params
}

/** The routes of a handler, which are there or are loaded. */
interface RouteTable {
  /** A router with all rows that a path may be for. */
  readonly routerOf: (pathname: string) => Router | Promise<Router>
  readonly routes: () => Promise<readonly Route[]>
  /** Their paths, or those that they begin with. */
  readonly paths: readonly string[]
}

export function tableOf(rows: readonly (Route | LaterRows<Route>)[]): RouteTable {
  const parts = rows.filter((row) => 'load' in row)
  const loaded = new Map<Route | LaterRows<Route>, readonly Route[]>()
  const routerNow = (): Router =>
    createRouter(rows.flatMap((row) => ('load' in row ? (loaded.get(row) ?? []) : [row])))
  let router = routerNow()
  const load = async (missing: typeof parts): Promise<Router> => {
    for (const part of missing) loaded.set(part, await part.load())
    return (router = routerNow())
  }
  return {
    // Without a wait once they are loaded, so that a request takes as many turns as with rows that are there.
    routerOf(pathname) {
      const missing = parts.filter(
        (part) => !loaded.has(part) && part.below.some((path) => stripBase(pathname, path) !== undefined),
      )
      return missing.length > 0 ? load(missing) : router
    },
    routes: async () =>
      (await Promise.all(rows.map(async (row) => ('load' in row ? row.load() : [row])))).flat(),
    paths: rows.flatMap((row) => ('load' in row ? row.below : [row[1]])),
  }
}
