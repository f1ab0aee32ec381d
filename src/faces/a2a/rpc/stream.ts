import { idLine, sourceOf, sseResponse } from '../../../core/http/index.ts'
import type { FaceCall } from '../../kit/routes.ts'
import type { Dialect } from '../dialects/dialect.ts'
import type { ArtifactUpdate, StreamEntry, StreamItem } from '../model.ts'

/** Characters that some clients treat as line ends, although JSON and event streams do not. */
const ODD_LINE_ENDS = /[\u0085\u2028\u2029]/g

const escaped = (json: string): string =>
  json.replace(ODD_LINE_ENDS, (end) => `\\u${end.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** The frame of one JSON-RPC response, given as JSON. */
export const frameOf = (json: string): string => `data: ${escaped(json)}\n\n`

/** The frame around the text parts of an artifact. */
interface Form {
  readonly of: ArtifactUpdate
  readonly before: string
  readonly after: string
}

/**
 * Formats items as frames of JSON-RPC responses to the request with this id, which is JSON. Most items of a
 * stream are text parts of one artifact, so their common text is formatted once.
 */
function frameWriter(dialect: Dialect, id: string): (item: StreamItem, eventId?: string) => string {
  /** A placeholder for the text that occurs nowhere else. */
  const place = crypto.randomUUID()
  let form: Form | undefined

  const frame = (item: StreamItem): string =>
    frameOf(`{"jsonrpc":"2.0","id":${id},"result":${JSON.stringify(dialect.writeItem(item))}}`)

  function formOf(of: ArtifactUpdate): Form {
    const parts = [{ kind: 'text', text: place }] as const
    const [before = '', after = ''] = frame({ ...of, artifact: { ...of.artifact, parts } }).split(
      `"${place}"`,
    )
    return { of, before, after }
  }

  function write(item: StreamItem): string {
    const text = item.type === 'artifact' ? onlyText(item) : undefined
    if (item.type !== 'artifact' || text === undefined) return frame(item)
    if (!form || !isAlike(form.of, item)) form = formOf(item)
    return form.before + escaped(JSON.stringify(text)) + form.after
  }

  return (item, eventId) => idLine(eventId) + write(item)
}

/** The text of an update that contains nothing else. */
function onlyText({ artifact: { parts } }: ArtifactUpdate): string | undefined {
  const [part] = parts
  if (part?.kind !== 'text' || parts.length > 1) return undefined
  const { text, name, mediaType, metadata } = part
  return name === undefined && mediaType === undefined && metadata === undefined ? text : undefined
}

/** Whether two updates of one task differ only in their parts. */
const isAlike = (a: ArtifactUpdate, b: ArtifactUpdate): boolean =>
  a.append === b.append &&
  a.lastChunk === b.lastChunk &&
  a.metadata === b.metadata &&
  a.artifact.artifactId === b.artifact.artifactId &&
  a.artifact.name === b.artifact.name &&
  a.artifact.description === b.artifact.description &&
  a.artifact.extensions === b.artifact.extensions &&
  a.artifact.metadata === b.artifact.metadata

/** The maximum length of frames that are sent together, in characters, not counting the last one. */
const CHUNK_LENGTH = 65_536

export interface StreamAnswer {
  readonly call: FaceCall
  readonly dialect: Dialect
  /** The JSON of the request's id. */
  readonly id: string
  /**
   * Called with a call whose signal aborts when the client disconnects, even if only the response is
   * cancelled.
   */
  readonly open: (call: FaceCall) => Promise<AsyncIterable<readonly StreamEntry[]>>
  /** The JSON-RPC response for an error during the stream, as JSON. */
  readonly failed: (error: unknown) => string
}

/**
 * A response in which every event is a complete JSON-RPC response, pulled at the reader's pace. Rejects if
 * the stream fails before its first batch. A later error is the last event.
 */
export async function rpcStream(answer: StreamAnswer): Promise<Response> {
  const { signal } = answer.call
  const source = sourceOf((gone) => rpcFrames(answer, gone), signal)
  await source.ready()
  return sseResponse(source, { signal })
}

async function* rpcFrames(
  { call, dialect, id, open, failed }: StreamAnswer,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const write = frameWriter(dialect, id)
  let hasBegun = false
  let frames = ''
  try {
    for await (const batch of await open({ ...call, signal })) {
      hasBegun = true
      for (const { id: eventId, item } of batch) {
        frames += write(item, eventId)
        if (frames.length < CHUNK_LENGTH) continue
        yield frames
        frames = ''
      }
      yield frames
      frames = ''
    }
  } catch (error) {
    if (!hasBegun) throw error
    if (error !== signal.reason) yield frames + frameOf(failed(error))
  }
}
