import {
  type Call,
  type JsonSchema,
  json,
  type Route,
  type RouteDescription,
  type RouteDescriptions,
  type SecuritySchemes,
  type WebHandler,
} from '../../core/http/index.ts'

type Group = Omit<WebHandler, 'fetch'>

interface Listed {
  readonly group: Group
  readonly routes: readonly Route[]
  readonly descriptions: RouteDescriptions
}

interface Described extends Omit<Listed, 'group'> {
  /** The prefix of the routes, if it differs from that of the document. */
  readonly base?: string | undefined
}

interface DocumentOptions {
  readonly version: string
  /** The prefix of the routes, or an empty string. */
  readonly base: string
  /** The schemes of callers. Undefined if anyone can call. */
  readonly security: SecuritySchemes | undefined
}

const PATH = '/openapi.json'

/**
 * `GET /openapi.json`: the requests and responses of a server's groups. The paths of a group with its own
 * document are added.
 */
export async function serveDocument(
  { url }: Pick<Call, 'url'>,
  groups: readonly Group[],
  { version, security }: Omit<DocumentOptions, 'base'>,
): Promise<Response> {
  const base = url.pathname.slice(0, -PATH.length)
  const listed = await Promise.all(
    groups.map(async (group): Promise<Listed> => {
      const [routes, descriptions] = await Promise.all([group.routes(), group.describe?.()])
      return { group, routes, descriptions: descriptions ?? {} }
    }),
  )
  // If a host mounts the server, the host decides the prefix of all groups.
  const isMounted = base !== baseOf(listed.find(servesDocument))
  const own = listed.filter((one) => Object.keys(one.descriptions).length > 0 || !servesDocument(one))
  const described = own.map((one) => ({ ...one, base: isMounted ? undefined : baseOf(one) }))
  const document = documentOf(described, { version, base, security })
  for (const one of listed.filter((one) => !own.includes(one))) {
    const answer = await one.group.handle(new Request(new URL(`${baseOf(one) ?? ''}${PATH}`, url)))
    const { paths, components } = (await answer?.json()) ?? {}
    Object.assign(document.paths, paths)
    Object.assign(document.components.schemas, components?.schemas)
    Object.assign(document.components, { securitySchemes: { ...components?.securitySchemes, ...security } })
  }
  return json(document)
}

const servesDocument = ({ routes }: Listed): boolean =>
  routes.some(([method, pattern]) => method === 'GET' && pattern === PATH)

function baseOf(listed: Listed | undefined): string | undefined {
  const [first] = listed?.routes ?? []
  return first && listed?.group.mountPaths?.()[0]?.slice(0, -`/${first[1].split('/')[1]}`.length)
}

/**
 * The OpenAPI 3.1 document of groups of routes. If two routes have the same method and path, the first is
 * described, with the responses of both.
 */
function documentOf(groups: readonly Described[], { version, base, security }: DocumentOptions) {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const { routes, descriptions, base: own } of groups)
    for (const [method, pattern, , kind] of routes) {
      const path = (paths[pattern.replace(/:(\w+)/g, '{$1}')] ??= {
        ...(own !== undefined && own !== base && { servers: [{ url: own || '/' }] }),
        ...parametersOf(pattern),
      })
      const operation = kind === 'socket' ? SOCKET : operationOf(descriptions[`${method} ${pattern as '/'}`])
      const known = path[method.toLowerCase()] as typeof operation | undefined
      path[method.toLowerCase()] = {
        ...operation,
        ...(security && kind === 'public' && { security: [] }),
        ...known,
        responses: { ...operation.responses, ...known?.responses },
      }
    }
  return {
    openapi: '3.1.0',
    info: { title: 'agentwire', version },
    servers: [{ url: base || '/' }],
    paths,
    components: { schemas: { Error: ERROR }, ...(security && { securitySchemes: security }) },
    ...(security && { security: Object.keys(security).map((name) => ({ [name]: [] })) }),
  }
}

const ERROR: JsonSchema = {
  type: 'object',
  properties: { error: { type: 'string' }, message: { type: 'string' } },
  required: ['error', 'message'],
}

const SOCKET = {
  summary: 'Open a web socket.',
  responses: { 101: { description: 'The web socket is open.' } },
}

function parametersOf(pattern: string): { readonly parameters?: readonly object[] } {
  const names = [...pattern.matchAll(/:(\w+)/g)].map(([, name]) => name)
  if (names.length === 0) return {}
  return {
    parameters: names.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
  }
}

function operationOf(description: RouteDescription | undefined) {
  const { summary, query, body, answers, streams } = description ?? { answers: {} }
  return {
    ...(summary !== undefined && { summary }),
    ...(query && {
      parameters: Object.entries(query).map(([name, schema]) => ({ name, in: 'query', schema })),
    }),
    ...(body && {
      requestBody: { required: 'required' in body, content: { 'application/json': { schema: body } } },
    }),
    responses: {
      ...Object.fromEntries(
        Object.entries(answers).map(([status, schema]) => [
          status,
          {
            description: schema ? 'The answer.' : 'Done.',
            ...(schema && {
              content: {
                'application/json': { schema },
                ...(streams && status === '200' && { 'text/event-stream': { schema: { type: 'string' } } }),
              },
            }),
          },
        ]),
      ),
      ...(streams &&
        !(200 in answers) && {
          200: { description: 'Events.', content: { 'text/event-stream': { schema: { type: 'string' } } } },
        }),
      default: {
        description: 'The request was rejected or failed.',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    },
  }
}
