import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { expect, onTestFinished } from 'vitest'
import { serve } from '../../adapters/node.ts'
import { type McpOptions, mcp } from '../../src/faces/mcp/index.ts'
import { type Agent, type AgentServer, createAgentServer, type ServerOptions } from '../../src/index.ts'
import { unexpectedErrors } from '../kit/errors.ts'
import type { Json } from '../kit/events.ts'

const TASKS = 'io.modelcontextprotocol/tasks'

export interface Served {
  readonly server: AgentServer
  readonly url: URL
}

/** Agents as tools, over a socket. The test fails if the server reports an error that is no failure of an agent. */
export async function served(
  agents: Readonly<Record<string, Agent>>,
  options: McpOptions = {},
  more: Partial<ServerOptions> = {},
): Promise<Served> {
  const { errors, reporters } = unexpectedErrors()
  const engineOptions = 'engine' in more ? {} : { agents, ...reporters }
  const server = createAgentServer({ ...engineOptions, ...more, faces: [mcp(options)] } as ServerOptions)
  const { origin, close } = await serve(server, { port: 0, silent: true, closeTimeout: 500 })
  onTestFinished(async () => {
    await close()
    expect(errors).toEqual([])
  })
  return { server, url: new URL(`${origin}${options.basePath ?? ''}/mcp`) }
}

/** The clients of each kind that there is. */
export const KINDS = ['legacy', 'auto', 'pinned', 'sdk 1'] as const
export type Kind = (typeof KINDS)[number]
export const MODERN: readonly Kind[] = ['auto', 'pinned']

const NEGOTIATION = {
  legacy: undefined,
  auto: { mode: 'auto' },
  pinned: { mode: { pin: '2026-07-28' } },
} as const

export interface Told {
  readonly headers?: Readonly<Record<string, string>>
  /** Fills the forms that the server asks for. Without it the client shows none. */
  readonly fill?: (asked: { readonly message: string; readonly schema: Json }) => Json
}

/** What the tests need of a client, whatever its kind. */
export interface AnyClient {
  list(): Promise<Json[]>
  call(name: string, args?: Json, options?: Json): Promise<Json>
  close(): Promise<void>
}

export async function connect(url: URL, kind: Kind, { headers = {}, fill }: Told = {}): Promise<AnyClient> {
  const info = { name: 'test', version: '1.0.0' }
  const requestInit = { headers }
  if (kind === 'sdk 1') {
    const client = new Client1(info)
    await client.connect(new Transport1(url, { requestInit }) as never)
    onTestFinished(() => client.close())
    return {
      list: async () => (await client.listTools()).tools,
      call: (name, args = {}, options) => client.callTool({ name, arguments: args }, undefined, options),
      close: () => client.close(),
    }
  }
  const versionNegotiation = NEGOTIATION[kind]
  const client = new Client(info, {
    ...(fill && { capabilities: { elicitation: {} } }),
    ...(versionNegotiation && { versionNegotiation }),
  } as never)
  if (fill)
    client.setRequestHandler('elicitation/create', async ({ params }: Json) =>
      fill({ message: params.message, schema: params.requestedSchema }),
    )
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }))
  onTestFinished(() => client.close())
  return {
    list: async () => (await client.listTools()).tools,
    call: (name, args = {}, options) => client.callTool({ name, arguments: args }, options),
    close: () => client.close(),
  }
}

export const textOf = ({ content }: Json): string =>
  content.flatMap(({ type, text }: Json) => (type === 'text' ? [text] : [])).join('\n')

export const threadOf = ({ _meta }: Json): string => _meta['agentwire/threadId']

let sent = 0

/** One request of the revision 2026-07-28, without a client. The answer may be JSON or a stream, whose last event counts. */
export async function rpc(
  { url }: Pick<Served, 'url'>,
  method: string,
  params: Json,
  {
    headers = {},
    capabilities = { elicitation: {}, extensions: { [TASKS]: {} } },
    signal,
  }: { headers?: Json; capabilities?: Json; signal?: AbortSignal } = {},
): Promise<{ status: number; headers: Headers; result?: Json; error?: Json; notifications: Json[] }> {
  const version = '2026-07-28'
  const name = params.taskId ?? params.name
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': version,
      'mcp-method': method,
      ...(name && { 'mcp-name': name }),
      ...headers,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: ++sent,
      method,
      params: {
        ...params,
        _meta: {
          ...params._meta,
          'io.modelcontextprotocol/protocolVersion': version,
          'io.modelcontextprotocol/clientCapabilities': capabilities,
          'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1.0.0' },
        },
      },
    }),
    ...(signal && { signal }),
  })
  const text = await response.text()
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
  const messages: Json[] = isStream
    ? [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!))
    : [text === '' ? {} : JSON.parse(text)]
  const { result, error } = messages.at(-1) ?? {}
  return {
    status: response.status,
    headers: response.headers,
    result,
    error,
    notifications: messages.slice(0, -1),
  }
}
