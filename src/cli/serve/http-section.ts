import * as z from 'zod/mini'
import type { LangGraphCors } from '../../core/http/index.ts'
import { type ExportPath, exportPath, optional, section, strings, wrong } from './config-reader.ts'

export interface HttpSection {
  readonly app: ExportPath | undefined
  /** Further apps. An app whose path is below another's comes before it. */
  readonly apps: readonly PlacedApp[]
  readonly cors: LangGraphCors | undefined
  /** Starts with a slash and ends without one, or is empty. */
  readonly mountPrefix: string
  readonly disabled: ReadonlySet<'a2a' | 'assistants' | 'mcp' | 'meta' | 'runs' | 'store' | 'threads'>
  readonly configurableHeaders: {
    readonly includes: readonly string[] | undefined
    readonly excludes: readonly string[]
  }
  /** Whether the routes of `app` and `apps` need the authentication of `auth`. */
  readonly authenticatesApp: boolean
}

export interface PlacedApp extends ExportPath {
  /** Starts with a slash and ends without one. */
  readonly path: string
}

/** With a leading slash and without a trailing one. Empty for the root. */
const placeOf = (path: string): string => path.replace(/^\/*(?=[^/])/, '/').replace(/(?<!\/)\/+$/, '')

const CORS = z.looseObject({
  allow_origins: optional(strings),
  allow_methods: optional(strings),
  allow_headers: optional(strings),
  expose_headers: optional(strings),
  allow_origin_regex: optional(
    z
      .string()
      .check(z.refine(isRegExp, wrong('is not a regular expression', 'one that matches whole origins'))),
  ),
})

function isRegExp(text: string): boolean {
  try {
    return Boolean(new RegExp(text))
  } catch {
    return false
  }
}

const PARTS = ['a2a', 'assistants', 'mcp', 'meta', 'runs', 'store', 'threads'] as const

/** The apps by path. A mistake in a path is reported before one in its app. */
const APPS = z.pipe(
  section({}),
  z.pipe(
    z.transform((apps: Record<string, unknown>, payload) => {
      for (const path of Object.keys(apps))
        if (placeOf(path) === '')
          payload.issues.push({
            code: 'custom',
            input: apps,
            path: [path],
            message: wrong('is not a path', 'a path such as /dashboard; use http.app for the root'),
          })
      return apps
    }),
    z.record(z.string(), exportPath('')),
  ),
)

/** The section `http` of a `langgraph.json`. */
export const HTTP_SECTION = z.pipe(
  section({
    app: z.optional(exportPath('http.app')),
    apps: APPS,
    cors: optional(CORS),
    mount_prefix: z.optional(z.string()),
    configurable_headers: section({ includes: optional(strings), excludes: optional(strings) }),
    disable_a2a: z.optional(z.boolean()),
    disable_assistants: z.optional(z.boolean()),
    disable_mcp: z.optional(z.boolean()),
    disable_meta: z.optional(z.boolean()),
    disable_runs: z.optional(z.boolean()),
    disable_store: z.optional(z.boolean()),
    disable_threads: z.optional(z.boolean()),
  }),
  z.transform(
    ({ configurable_headers: { includes, excludes }, ...http }): HttpSection => ({
      app: http.app,
      apps: Object.entries(http.apps)
        .map(([path, app]) => ({ ...app, key: `http.apps.${path}`, path: placeOf(path) }))
        .sort((a, b) => b.path.length - a.path.length),
      cors: http.cors,
      mountPrefix: placeOf(http.mount_prefix ?? ''),
      disabled: new Set(PARTS.filter((part) => http[`disable_${part}`])),
      configurableHeaders: { includes, excludes: excludes ?? [] },
      authenticatesApp: http.enable_custom_route_auth !== false,
    }),
  ),
)
