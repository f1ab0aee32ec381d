import { createParser } from 'eventsource-parser'
import type { WireEvent } from './events.ts'

export interface Frame {
  readonly id: string | undefined
  readonly event: string | undefined
  readonly data: string
}

/** What one chunk of a body completes. */
export interface Piece {
  readonly frames: readonly Frame[]
  readonly comments: readonly string[]
}

/** Reads a body of SSE. It throws where the connection breaks. */
export async function* readFrames(body: AsyncIterable<Uint8Array>): AsyncGenerator<Piece> {
  const decoder = new TextDecoder()
  const parse = frameParser()
  for await (const chunk of body) yield parse(decoder.decode(chunk, { stream: true }))
}

/** The events of whole frames. */
export function parseEvents(bytes: Uint8Array): WireEvent[] {
  const text = new TextDecoder().decode(bytes)
  if (!text.endsWith('\n\n')) throw new Error(`The last frame is not whole: ${text}`)
  return frameParser()(text).frames.map(({ data }) => JSON.parse(data) as WireEvent)
}

function frameParser(): (text: string) => Piece {
  let frames: Frame[] = []
  let comments: string[] = []
  const parser = createParser({
    onEvent: ({ id, event, data }) => void frames.push({ id, event, data }),
    onComment: (comment) => void comments.push(comment),
  })
  return (text) => {
    parser.feed(text)
    const piece = { frames, comments }
    frames = []
    comments = []
    return piece
  }
}
