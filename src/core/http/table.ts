import { createRouter, type Router, stripBase } from './router.ts'
import type { LaterRows, Route } from './types.ts'

/** The routes of a handler, which are there or are loaded. */
export interface RouteTable {
  /** Finds the routes of a path. Undefined if none begins as the path does. */
  readonly routerOf: (pathname: string) => Router | Promise<Router> | undefined
  readonly routes: () => Promise<readonly Route[]>
  /** Their paths, or those that they begin with. */
  readonly paths: readonly string[]
}

export function tableOf(rows: readonly Route[] | LaterRows<Route>): RouteTable {
  if (!('load' in rows)) {
    const router = createRouter(rows)
    return { routerOf: () => router, routes: async () => rows, paths: rows.map(([, path]) => path) }
  }
  const { below, load } = rows
  let router: Router | Promise<Router> | undefined
  return {
    // Without a wait once they are loaded, so that a request takes as many turns as with a table that is there.
    routerOf: (pathname) =>
      below.some((path) => stripBase(pathname, path) !== undefined)
        ? (router ??= load().then((loaded) => (router = createRouter(loaded))))
        : undefined,
    routes: load,
    paths: below,
  }
}
