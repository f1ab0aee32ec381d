import * as newest6 from 'ai'
import * as newest7 from 'ai7'
import * as first6 from 'ai60'
import { expect } from 'vitest'
import type { Json } from '../kit/events.ts'

type Library = typeof newest6

/** The releases of the AI SDK that the face is tried with. Their types differ where nothing here looks. */
export const LIBRARIES: Readonly<Record<string, Library>> = {
  '6.0.0': first6 as unknown as Library,
  '6': newest6,
  '7': newest7 as unknown as Library,
}

export type Message = newest6.UIMessage

export interface ChatOptions {
  readonly origin: string
  readonly id?: string
  readonly library?: Library
  readonly messages?: Message[]
  readonly headers?: Record<string, string>
  readonly body?: object
  readonly basePath?: string
  readonly init?: object
  readonly transport?: object
}

/** A chat of the AI SDK without React, with all that its server has sent. Every chunk has passed the schemas of all versions. */
export function openChat({
  origin,
  id = 'chat-1',
  library = newest6,
  messages = [],
  headers,
  body,
  basePath = '/api',
  init,
  transport,
}: ChatOptions) {
  const responses: { status: number; headers: Headers }[] = []
  const chunks: Json[] = []
  const data: Json[] = []
  const record = async (url: string | URL | Request, request?: RequestInit): Promise<Response> => {
    const response = await fetch(url, request)
    responses.push({ status: response.status, headers: response.headers })
    if (response.status !== 200 || !response.body) return response
    const [own, theirs] = response.body.tee()
    const read = readChunks(own, chunks)
    reads.push(read)
    return new Response(theirs, { status: response.status, headers: response.headers })
  }
  const reads: Promise<string>[] = []
  class Chat extends library.AbstractChat<Message> {}
  const state = {
    status: 'ready' as const,
    error: undefined as Error | undefined,
    messages,
    pushMessage(message: Message) {
      state.messages = [...state.messages, message]
    },
    popMessage() {
      state.messages = state.messages.slice(0, -1)
    },
    replaceMessage(index: number, message: Message) {
      state.messages = [
        ...state.messages.slice(0, index),
        structuredClone(message),
        ...state.messages.slice(index + 1),
      ]
    },
    snapshot: <T>(value: T): T => structuredClone(value),
  }
  const chat = new Chat({
    id,
    state: state as never,
    transport: new library.DefaultChatTransport({
      api: `${origin}${basePath}/chat`,
      fetch: record as typeof fetch,
      headers,
      body,
      ...transport,
    }) as never,
    onData: (part) => void data.push(part),
    ...init,
  })
  /** Settles when all streams so far have been read to their ends, and gives how they ended. */
  const ends = () => Promise.all(reads)
  return { chat, chunks, data, responses, ends }
}

/** Checks the framing and the chunks of a stream, whoever reads it. Gives how it ended. */
export async function readChunks(body: ReadableStream<Uint8Array>, chunks: Json[]): Promise<string> {
  let text = ''
  try {
    for await (const part of body.pipeThrough(
      new TextDecoderStream() as never,
    ) as never as AsyncIterable<string>) {
      text += part
      const frames = text.split('\n\n')
      text = frames.pop()!
      for (const framed of frames) {
        const frame = framed.replace(/^(:.*\n)+/, '')
        expect(frame).toMatch(/^data: [^\n]*$/)
        if (frame === 'data: [DONE]') return 'done'
        const chunk = JSON.parse(frame.slice('data: '.length))
        await checkChunk(chunk)
        chunks.push(chunk)
      }
    }
    return 'closed'
  } catch {
    return 'broken'
  }
}

/** What the schemas of the versions refuse, in all tests of a file. */
export const refusedChunks: unknown[] = []

async function checkChunk(chunk: Json): Promise<void> {
  for (const [version, library] of Object.entries(LIBRARIES)) {
    const schema = library.asSchema(library.uiMessageChunkSchema as never)
    const result = await schema.validate!(chunk)
    if (!result.success) refusedChunks.push({ version, chunk })
  }
}

/** The messages of the history route, which every version takes. */
export async function historyOf(
  origin: string,
  id = 'chat-1',
  headers: Record<string, string> = {},
): Promise<Message[]> {
  const response = await fetch(`${origin}/api/chat/${encodeURIComponent(id)}`, { headers })
  expect(response.status).toBe(200)
  const messages = (await response.json()) as Message[]
  for (const library of Object.values(LIBRARIES))
    if (messages.length > 0) await library.validateUIMessages({ messages })
  return messages
}

/**
 * What a page shows of messages, without what only the page knows that has seen it: the state of texts, ids of thoughts, answers to
 * approvals, and data that is not asked.
 */
export function shownOf(messages: readonly Message[]): Json[] {
  return JSON.parse(JSON.stringify(messages)).map(({ id, role, metadata, parts }: Json) => ({
    id,
    role,
    ...(metadata && { metadata }),
    parts: parts
      .filter(({ type, data }: Json) => !type.startsWith('data-') || data.status === 'pending')
      .map(({ state, approval, id: _, rawInput: __, ...part }: Json) => {
        if (part.type === 'text' || part.type === 'reasoning') return part
        if (state === 'output-denied') return { ...part, state: 'output-error' }
        const isOpen = state === 'approval-requested'
        return { ...part, ...(state && { state }), ...(isOpen && { approval }), errorText: undefined }
      })
      .map((part: Json) => JSON.parse(JSON.stringify(part))),
  }))
}

export const textOf = (message: Message | undefined): string =>
  (message?.parts ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('')
