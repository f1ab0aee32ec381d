import { randomUUID } from 'node:crypto'
import { HumanMessage } from '@langchain/core/messages'
import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { serve } from '../../adapters/node.ts'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { createAgentServer, defineAgent } from '../../src/index.ts'
import { type ContentBlock, decodeMessage } from '../../src/messages/index.ts'
import type { Json } from '../kit/events.ts'
import { connect } from '../mcp/served.ts'
import { faces } from './faces.ts'

/** Named pictures and PDFs through every door: what agents see, and the names that clients get back. */

const FILES = {
  'a picture': { type: 'image', name: 'plan of [1].png', mimeType: 'image/png', base64: 'iVBORw0KGgo=' },
  'a PDF': {
    type: 'file',
    name: 'Angebot – Müller.pdf',
    mimeType: 'application/pdf',
    base64: 'JVBERi0xLjQ=',
  },
} as const

type File = (typeof FILES)[keyof typeof FILES]

const dataUrl = ({ mimeType, base64 }: File) => `data:${mimeType};base64,${base64}`

interface Place {
  readonly origin: string
  readonly agent: string
  readonly threadId: string
}

async function post({ origin }: Place, path: string, body: Json, headers: Record<string, string> = {}) {
  const response = await fetch(origin + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  expect([response.status, text]).toEqual([200, expect.anything()])
  return text
}

const rpc = (at: Place, version: string, method: string, message: Json) =>
  post(
    at,
    `/a2a/${at.agent}`,
    { jsonrpc: '2.0', id: 1, method, params: { message } },
    { 'a2a-version': version },
  )

const wire = ({ type, mimeType, base64 }: File, more: Json) => ({ type, mimeType, data: base64, ...more })

const wait = async (at: Place, block: Json) => {
  const messages = [{ type: 'human', content: [block] }]
  return post(at, `/threads/${at.threadId}/runs/wait`, {
    assistant_id: at.agent,
    input: { messages },
    if_not_exists: 'create',
  })
}

/** Sends a file, and returns the text of the answer, in which its client finds the file of the agent. */
const SENDERS: Readonly<Record<string, (at: Place, file: File) => Promise<string>>> = {
  'the AI SDK': async (at, file) => {
    const part = { type: 'file', mediaType: file.mimeType, filename: file.name, url: dataUrl(file) }
    await post(at, '/api/chat', {
      id: at.threadId,
      assistantId: at.agent,
      trigger: 'submit-message',
      messages: [{ id: 'm1', role: 'user', parts: [part] }],
    })
    return (await fetch(`${at.origin}/api/chat/${at.threadId}`)).text()
  },
  'AG-UI': (at, file) => {
    const source = { type: 'data', value: file.base64, mimeType: file.mimeType }
    const part = {
      type: file.type === 'file' ? 'document' : file.type,
      source,
      metadata: { filename: file.name },
    }
    return agUi(at, part)
  },
  'AG-UI with a binary part': (at, file) =>
    agUi(at, { type: 'binary', mimeType: file.mimeType, data: file.base64, filename: file.name }),
  'chat completions': async (at, file) => {
    const client = new OpenAI({ baseURL: `${at.origin}/v1`, apiKey: 'key', maxRetries: 0 })
    const part = { type: 'file' as const, file: { filename: file.name, file_data: dataUrl(file) } }
    const answer = await client.chat.completions.create(
      { model: at.agent, messages: [{ role: 'user', content: [part] }] },
      { headers: { 'x-thread-id': at.threadId } },
    )
    return answer.choices[0]!.message.content!
  },
  'the Responses API': async (at, file) => {
    const client = new OpenAI({ baseURL: `${at.origin}/v1`, apiKey: 'key', maxRetries: 0 })
    const part = { type: 'input_file' as const, filename: file.name, file_data: dataUrl(file) }
    const answer = await client.responses.create({
      model: at.agent,
      input: [{ role: 'user', content: [part] }],
    })
    return answer.output_text
  },
  'A2A 0.3': (at, { name, mimeType, base64: bytes }) =>
    rpc(at, '0.3', 'message/send', {
      kind: 'message',
      messageId: at.threadId,
      role: 'user',
      parts: [{ kind: 'file', file: { name, mimeType, bytes } }],
    }),
  'A2A 1.0': (at, { name: filename, mimeType: mediaType, base64: raw }) =>
    rpc(at, '1.0', 'SendMessage', {
      messageId: at.threadId,
      role: 'ROLE_USER',
      parts: [{ raw, mediaType, filename }],
    }),
  'the platform, with metadata.filename': (at, file) =>
    wait(at, wire(file, { metadata: { filename: file.name } })),
  'the platform, with metadata.name': (at, file) => wait(at, wire(file, { metadata: { name: file.name } })),
  'the platform, with metadata.title': (at, file) => wait(at, wire(file, { metadata: { title: file.name } })),
  'the platform, with filename': (at, file) => wait(at, wire(file, { filename: file.name })),
  'the platform, with name': (at, file) => wait(at, wire(file, { name: file.name })),
}

const agUi = (at: Place, part: Json) =>
  post(at, `/ag-ui/${at.agent}`, {
    threadId: at.threadId,
    runId: randomUUID(),
    messages: [{ id: randomUUID(), role: 'user', content: [part] }],
    tools: [],
    context: [],
    state: {},
    forwardedProps: {},
  })

describe('a file with a name', () => {
  const seen: Json[] = []
  let origin: string
  let close: () => Promise<void>

  beforeAll(async () => {
    const agent = defineAgent({
      async run({ input, message }) {
        const { messages } = input as { readonly messages: readonly Json[] }
        seen.push(messages.at(-1))
        const answer = message()
        for (const block of decodeMessage(messages.at(-1))!.content) await answer.block(block)
        await answer.end()
      },
    })
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('echo', ({ messages }) => {
        seen.push(messages.at(-1)!.toDict().data)
        return {}
      })
      .addEdge(START, 'echo')
      .compile()
    const server = createAgentServer({ agents: { agent, graph: langgraph(graph) }, faces })
    const served = await serve(server, { port: 0, silent: true })
    origin = served.origin
    close = served.close
  })
  afterAll(() => close())

  const CASES = Object.keys(SENDERS).flatMap((door) =>
    (Object.keys(FILES) as (keyof typeof FILES)[]).map((kind) => [kind, door] as const),
  )

  test.each(CASES)('%s: %s gives the agent its name, and the client gets it back', async (kind, door) => {
    const file = FILES[kind]
    seen.length = 0
    const told = await SENDERS[door]!({ origin, agent: 'agent', threadId: randomUUID() }, file)
    const [block, ...others] = decodeMessage(seen[0])!.content as readonly ContentBlock[]
    expect(others).toEqual([])
    const { type, mimeType, base64, name } = file
    expect(block).toMatchObject({ type, mimeType, base64, extras: { filename: name } })
    // Brackets are escaped in Markdown.
    expect(told.replaceAll('\\', '')).toContain(name)
  })

  test.each(CASES)('%s: %s gives a LangGraph agent what LangChain reads', async (kind, door) => {
    const file = FILES[kind]
    seen.length = 0
    await SENDERS[door]!({ origin, agent: 'graph', threadId: randomUUID() }, file)
    const [block] = new HumanMessage(seen[0]).content as readonly Json[]
    // LangChain's OpenAI package takes the name from one of these.
    const { metadata, filename, name } = block
    expect([metadata?.filename, metadata?.name, metadata?.title, filename, name]).toContain(file.name)
  })

  test('MCP gives the name of a file with its bytes', async () => {
    const file = FILES['a PDF']
    const sends = defineAgent({
      async run({ message }) {
        const answer = message()
        const { type, mimeType, base64, name } = file
        await answer.block({ type, mimeType, base64, extras: { filename: name } })
        await answer.end()
      },
    })
    const server = createAgentServer({ agents: { sends }, faces })
    const served = await serve(server, { port: 0, silent: true })
    const client = await connect(new URL('/mcp', served.origin), 'auto')
    const { content } = await client.call('sends', { message: 'hi' })
    expect(content[0].resource.uri).toBe(`file:///${encodeURIComponent(file.name)}`)
    await client.close()
    await served.close()
  })
})
