import type { LangGraphCors } from '../../src/http/index.ts'
import type { ExportPath, Reader } from './config-reader.ts'

export interface HttpSection {
  readonly app: ExportPath | undefined
  /** More of them, one below the path of another one before it. */
  readonly apps: readonly PlacedApp[]
  readonly cors: LangGraphCors | undefined
  /** Begins with a slash and ends without one, or is empty. */
  readonly mountPrefix: string
  readonly disabled: ReadonlySet<'a2a' | 'assistants' | 'meta' | 'runs' | 'store' | 'threads'>
  readonly configurableHeaders: {
    readonly includes: readonly string[] | undefined
    readonly excludes: readonly string[]
  }
  /** Whether the routes of `app` and `apps` need what `auth` asks for. */
  readonly authenticatesApp: boolean
}

export interface PlacedApp extends ExportPath {
  /** Begins with a slash and ends without one. */
  readonly path: string
}

/** Throws `ConfigError`. */
export function httpOf(at: Reader, http: Readonly<Record<string, unknown>>): HttpSection {
  const headers = at.optional('http.configurable_headers', http.configurable_headers)
  const names = (key: 'includes' | 'excludes') =>
    headers[key] === undefined || headers[key] === null
      ? undefined
      : at.strings(`http.configurable_headers.${key}`, headers[key])
  const prefix = http.mount_prefix === undefined ? '' : at.string('http.mount_prefix', http.mount_prefix)
  return {
    app: http.app === undefined ? undefined : at.exportPath('http.app', http.app),
    cors: http.cors == null ? undefined : corsOf(at, http.cors),
    apps: appsOf(at, http.apps),
    mountPrefix: placeOf(prefix),
    disabled: new Set(
      (['a2a', 'assistants', 'meta', 'runs', 'store', 'threads'] as const).filter((part) =>
        at.flag(`http.disable_${part}`, http[`disable_${part}`]),
      ),
    ),
    configurableHeaders: { includes: names('includes'), excludes: names('excludes') ?? [] },
    authenticatesApp: http.enable_custom_route_auth !== false,
  }
}

function appsOf(at: Reader, value: unknown): readonly PlacedApp[] {
  const apps = Object.entries(at.optional('http.apps', value)).map(([path, app]) => {
    const key = `http.apps.${path}`
    if (placeOf(path) === '') throw at.wrong(key, 'is no path', 'such as /dashboard; http.app has the root')
    return { ...at.exportPath(key, app), path: placeOf(path) }
  })
  return apps.sort((a, b) => b.path.length - a.path.length)
}

/** With a slash before it and none behind. Empty for the root. */
const placeOf = (path: string): string => path.replace(/^\/*(?=[^/])/, '/').replace(/\/+$/, '')

function corsOf(at: Reader, value: unknown): LangGraphCors {
  const cors = at.object('http.cors', value)
  for (const key of ['allow_origins', 'allow_methods', 'allow_headers', 'expose_headers'])
    if (cors[key] != null) at.strings(`http.cors.${key}`, cors[key])
  const key = 'http.cors.allow_origin_regex'
  if (cors.allow_origin_regex != null) {
    try {
      new RegExp(at.string(key, cors.allow_origin_regex))
    } catch {
      throw at.wrong(key, 'is no regular expression', 'one that matches whole origins')
    }
  }
  return cors
}
