/**
 * The devtools, for servers that turn them on. The build puts an import of `agentwire/devtools` here that bundlers
 * do not follow, so that the page, a fifth of a bundle in one file, is only in those of servers that import it.
 */
export const loadDevtools = (): Promise<typeof import('./index.ts')> => import('./index.ts')
