import * as v1 from '@ag-ui/client'
import * as core1 from '@ag-ui/core/schemas'
import * as v0 from 'ag-ui-client-0'
import * as core0 from 'ag-ui-core-0'
import { expect, onTestFinished, vi } from 'vitest'
import { serve } from '../../adapters/node.ts'
import { type AgUiOptions, agUi } from '../../src/faces/ag-ui/index.ts'
import { type Agent, createAgentServer, type OwnEngineOptions } from '../../src/index.ts'
import { errorMessage, unexpectedErrors } from '../kit/errors.ts'
import type { Json } from '../kit/events.ts'

/** The two generations of clients, each with the schemas that it checks events with. */
export const GENERATIONS = [
  { name: '1.0.0', client: v1, schemas: core1.EventSchemas },
  { name: '0.0.59', client: v0 as unknown as typeof v1, schemas: core0.EventSchemas },
] as const

export type Generation = (typeof GENERATIONS)[number]

export interface Event {
  readonly type: string
  readonly [field: string]: Json
}

type ServedOptions = Partial<OwnEngineOptions> & { readonly agUi?: AgUiOptions }

/** A server of agents behind a socket. What it reports that is no failure of an agent fails the test, unless it is to be lost. */
export async function serveAgents(
  agents: Readonly<Record<string, Agent>>,
  { agUi: options, ...rest }: ServedOptions = {},
  isLost = false,
) {
  const { errors, reporters } = unexpectedErrors(rest.observe)
  const server = createAgentServer({
    agents,
    errorMessage,
    authenticate: () => ({ id: 'ann' }),
    faces: [agUi(options)],
    ...rest,
    ...reporters,
  })
  const served = await serve(server, { port: 0, silent: true, closeTimeout: 100 })
  onTestFinished(async () => {
    await served.close()
    if (!isLost) expect(errors).toEqual([])
  })
  const { close, origin } = served
  return { server, engine: server.engine, origin, close, base: `${origin}/ag-ui` }
}

/** An `HttpAgent` that keeps each event as the server has sent it, and that can connect, as CopilotKit's can. */
export function clientOf(
  { client, schemas }: Generation,
  base: string,
  {
    agentId = 'agent',
    threadId = crypto.randomUUID() as string,
    headers = {} as Record<string, string>,
    initialState = {} as Json,
    send = fetch as (url: string, init: RequestInit) => Promise<Response>,
  } = {},
) {
  const events: Event[] = []
  const bodies: Json[] = []
  // What the client says of events that it does not take as they are.
  const warned = vi.spyOn(console, 'warn').mockImplementation((text) => void warnings.push(String(text)))
  const warnings: string[] = []
  onTestFinished(() => {
    warned.mockRestore()
    expect(warnings).toEqual([])
  })
  const collecting = async (url: string, init: RequestInit): Promise<Response> => {
    bodies.push(JSON.parse(String(init.body)))
    const response = await send(url, init)
    if (!response.ok || !response.body) return response
    const decoder = new TextDecoder()
    let rest = ''
    const tap = new TransformStream<Uint8Array, Uint8Array>({
      transform(bytes, controller) {
        const parts = (rest + decoder.decode(bytes, { stream: true })).split('\n')
        rest = parts.pop()!
        for (const part of parts) if (part.startsWith('data: ')) take(JSON.parse(part.slice(6)))
        controller.enqueue(bytes)
      },
    })
    return new Response(response.body.pipeThrough(tap), response)
  }
  const take = (event: Event) => {
    events.push(event)
    // Zod drops what a schema does not know: nothing of ours is unknown.
    expect(schemas.parse(event)).toMatchObject(event)
  }
  class Agent extends client.HttpAgent {
    protected override connect(input: Parameters<typeof this.run>[0]): ReturnType<typeof this.run> {
      const url = `${base}/agent/${agentId}/connect`
      const response = () => this.fetch(url, this.requestInit(input))
      return client.transformHttpEventStream(client.runHttpRequest(response)) as never
    }
  }
  const agent = new Agent({ url: `${base}/${agentId}`, threadId, headers, initialState, fetch: collecting })
  return {
    agent,
    events,
    bodies,
    threadId,
    say: (text: string, id: string = crypto.randomUUID()) =>
      agent.addMessage({ id, role: 'user', content: text }),
    types: () => events.map(({ type }) => type),
    last: () => events.at(-1)!,
  }
}

export type Client = ReturnType<typeof clientOf>

/** What a client that comes now gets of a thread. */
export async function connected(
  generation: Generation,
  base: string,
  options: Parameters<typeof clientOf>[2],
): Promise<Client> {
  const client = clientOf(generation, base, options)
  await client.agent.connectAgent()
  return client
}
