import type { AgentEngine, StoredConfig } from '../../engine/index.ts'
import type { HttpSection } from './http-section.ts'

/** The headers in `config.configurable` without the section, as in LangGraph's own server. */
const DEFAULT_INCLUDES = ['x-*', 'user-agent']
/** Credentials, which only their full name includes. */
const CREDENTIALS = ['authorization', 'cookie', 'x-api-key', 'x-tenant-id', 'x-service-key']

/** Valid names for `Headers`. */
const HEADER_NAME = /^[\w-]+$/

/**
 * The engine with request headers in the `configurable` of runs. Headers override the client's own values.
 */
export function engineWithHeaders(
  engine: AgentEngine,
  section: HttpSection['configurableHeaders'],
): AgentEngine {
  const pick = picker(section)
  const more = <
    T extends { readonly request?: Request | undefined; readonly config?: StoredConfig | undefined },
  >(
    asked: T,
  ): T => {
    const { request, config } = asked
    if (!request) return asked
    const found = pick(request.headers)
    // LangGraph's REST API has already added headers, and the section may exclude some of them.
    const kept = Object.entries(config?.configurable ?? {}).filter(
      ([name, value]) => name in found || !HEADER_NAME.test(name) || request.headers.get(name) !== value,
    )
    return { ...asked, config: { ...config, configurable: { ...Object.fromEntries(kept), ...found } } }
  }
  return Object.assign(Object.create(engine) as AgentEngine, {
    start: (request: Parameters<AgentEngine['start']>[0]) => engine.start(more(request)),
    respond: (request: Parameters<AgentEngine['respond']>[0]) => engine.respond(more(request)),
  })
}

function picker({ includes = DEFAULT_INCLUDES, excludes }: HttpSection['configurableHeaders']) {
  const wanted = includes.map(pattern)
  const unwanted = excludes.map(pattern)
  const named = new Set(includes.map((name) => name.toLowerCase()))
  return (headers: Headers): Record<string, string> =>
    Object.fromEntries(
      [...headers].filter(
        ([name]) =>
          wanted.some((one) => one.test(name)) &&
          !unwanted.some((one) => one.test(name)) &&
          (named.has(name) || !CREDENTIALS.includes(name)),
      ),
    )
}

const pattern = (text: string): RegExp =>
  new RegExp(`^${text.toLowerCase().split('*').map(escaped).join('.*')}$`)

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
