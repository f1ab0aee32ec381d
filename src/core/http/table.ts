import { createRouter, type Router, stripBase } from './router.ts'
import type { LaterRows, Route } from './types.ts'

/** The routes of a handler, which are there or are loaded. */
export interface RouteTable {
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
