import type { Answer, EventFilter } from '../../../engine/index.ts'
import { decodeBlock } from '../../../messages/index.ts'
import { isRecord } from '../../../messages/record.ts'
import type { LogGap, ThreadEvent } from '../../../messages/thread-events/index.ts'
import type { Artifact, ArtifactUpdate, Part, StreamEntry, StreamItem, Task } from '../model.ts'
import type { StreamForm } from '../options.ts'
import { partOf } from '../parts/output.ts'
import { taskIdOf } from './ids.ts'
import { ANSWER_NAME, aboutArtifact, answerIdOf, type FoundTask, timestampOf } from './present.ts'

/** Converts batches of log events to the entries of a task's stream. */
export interface Translator {
  /**
   * The entries for log events. An event becomes at most one entry, with its sequence number as the id, so
   * that a disconnected reader never resumes in the middle of an event. The batching only determines whether
   * the last part of an artifact has `lastChunk`: it does if the end is in the same batch. After a gap, open
   * artifacts are left to `close`.
   */
  translate(events: readonly (ThreadEvent | LogGap)[]): StreamEntry[]
  /**
   * The items that are missing when the task ends or asks: the artifacts that the stream sent differently
   * from the record, or not at all, and the status. An artifact that is not in the record is retracted.
   */
  close(task: Task): readonly StreamItem[]
}

/** The events that a task's stream needs. */
export const TASK_EVENTS: EventFilter = { channels: ['lifecycle', 'messages', 'custom:artifact'] }

/** An artifact that is being sent. */
interface OpenArtifact {
  readonly about: Omit<Artifact, 'parts'>
  /** The parts that were sent, with adjacent texts joined. */
  sent: Part[]
  /** Whether the next part replaces those that were sent. */
  isStale: boolean
  isFinished: boolean
}

const opened = (about: OpenArtifact['about'], sent: Part[] = []): OpenArtifact => ({
  about,
  sent,
  isStale: true,
  isFinished: false,
})

const NO_TEXT: readonly Part[] = [{ kind: 'text', text: '' }]

/** A message that is being written, identified by its namespace, node and model call. */
interface Writer {
  readonly place: string | undefined
  readonly node: string | undefined
  readonly callId: string | undefined
  readonly messageId: string
  /** The parts that were shown, and the text length of each block. */
  readonly parts: Part[]
  readonly lengths: Map<number, number>
}

export function createTranslator({ contextId, record }: FoundTask, form: StreamForm): Translator {
  const taskId = taskIdOf(contextId, record.taskId)
  const answer = opened({ artifactId: answerIdOf(record), name: ANSWER_NAME })
  const artifacts = new Map<string, OpenArtifact>([[answer.about.artifactId, answer]])
  /** The message of the answer: the one that began last. */
  let writer: Writer | undefined

  const update = (
    about: OpenArtifact['about'],
    parts: readonly Part[],
    append: boolean,
    lastChunk: boolean,
  ): ArtifactUpdate => ({
    type: 'artifact',
    taskId,
    contextId,
    artifact: { ...about, parts },
    append,
    lastChunk,
  })

  const added = (artifact: OpenArtifact, part: Part): ArtifactUpdate => {
    const append = !artifact.isStale
    if (artifact.isStale) artifact.sent = []
    artifact.isStale = false
    addPart(artifact.sent, part)
    return update(artifact.about, [part], append, false)
  }

  /** Marks the last part of an artifact as its end, if it is among the entries. */
  const end = (artifact: OpenArtifact, entries: StreamEntry[]): undefined => {
    artifact.isFinished = true
    if (artifact.isStale) return
    const { artifactId } = artifact.about
    const at = entries.findLastIndex(
      ({ item }) => item.type === 'artifact' && item.artifact.artifactId === artifactId,
    )
    const { id, item } = entries[at] ?? {}
    if (item?.type === 'artifact') entries[at] = { id, item: { ...item, lastChunk: true } }
  }

  const working = (timestamp: number): StreamItem => ({
    type: 'status',
    taskId,
    contextId,
    status: { state: 'working', timestamp: timestampOf(timestamp) },
    final: false,
  })

  const shown = ({ messageId, parts }: Writer, part: Part, timestamp: number): StreamItem | undefined => {
    if (form === 'artifacts') return added(answer, part)
    addPart(parts, part)
    const message = { messageId, role: 'agent', parts: [...parts], contextId, taskId } as const
    const status = { state: 'working', message, timestamp: timestampOf(timestamp) } as const
    return { type: 'status', taskId, contextId, status, final: false }
  }

  /** `text` continues a block of the message, or is the block's complete text so far. */
  const onText = (
    from: Writer,
    index: number,
    text: string,
    isWhole: boolean,
    timestamp: number,
  ): StreamItem | undefined => {
    const length = from.lengths.get(index) ?? 0
    const more = isWhole ? text.slice(length) : text
    if (more === '') return undefined
    from.lengths.set(index, length + more.length)
    return shown(from, { kind: 'text', text: more }, timestamp)
  }

  const onMessage = (
    { namespace, node, data, timestamp }: ThreadEvent<'messages'>,
    entries: StreamEntry[],
  ): StreamItem | undefined => {
    const { run_id: callId } = data
    const place = namespace[0]
    if (data.event === 'message-start') {
      const { id = '', role = 'ai' } = data
      if (role !== 'ai') return undefined
      writer = { place, node, callId, messageId: id, parts: [], lengths: new Map() }
      answer.isStale = true
      answer.isFinished = false
      return undefined
    }
    const from = writer
    if (!from || from.place !== place || from.node !== node || from.callId !== callId) return undefined
    switch (data.event) {
      case 'content-block-start':
        return onText(from, data.index, textOf(data.content), true, timestamp)
      case 'content-block-delta':
        return onText(from, data.index, textOf(data.delta), false, timestamp)
      case 'content-block-finish': {
        const [part] = partOf(decodeBlock(data.content) ?? { type: 'reasoning', text: '' })
        if (part?.kind === 'text') return onText(from, data.index, part.text, true, timestamp)
        return part && shown(from, part, timestamp)
      }
      case 'message-finish':
        writer = undefined
        return form === 'artifacts' ? end(answer, entries) : undefined
      case 'error':
        writer = undefined
        return undefined
      default:
        return undefined
    }
  }

  const onArtifact = (payload: unknown, entries: StreamEntry[]): StreamItem | undefined => {
    if (!isRecord(payload)) return undefined
    const { event, id, block } = payload
    if (typeof id !== 'string' || id === answer.about.artifactId) return undefined
    const artifact = artifacts.get(id)
    if (event === 'artifact-start') {
      artifacts.set(id, opened({ artifactId: id, ...aboutArtifact(payload) }, artifact?.sent))
      return undefined
    }
    if (!artifact || artifact.isFinished) return undefined
    if (event === 'artifact-finish') return end(artifact, entries)
    const [part] = partOf(decodeBlock(block) ?? { type: 'reasoning', text: '' })
    return part && added(artifact, part)
  }

  const itemOf = (event: ThreadEvent, entries: StreamEntry[]): StreamItem | undefined => {
    const { namespace } = event
    if (event.method === 'messages') {
      // Messages of subagents and tools are not part of the answer.
      return namespace.length > 1 || namespace[0]?.startsWith('tools:')
        ? undefined
        : onMessage(event, entries)
    }
    if (namespace.length > 0) return undefined
    if (event.method === 'custom') return onArtifact(event.data.payload, entries)
    const isBegin = event.method === 'lifecycle' && event.data.event === 'running'
    return isBegin ? working(event.timestamp) : undefined
  }

  const skip = () => {
    writer = undefined
    for (const artifact of artifacts.values()) artifact.isFinished = true
  }

  return {
    translate(events) {
      const entries: StreamEntry[] = []
      for (const event of events) {
        const item = event.type === 'gap' ? skip() : itemOf(event, entries)
        if (item && event.type !== 'gap') entries.push({ id: String(event.seq), item })
      }
      return entries
    },
    close({ artifacts: whole = [], status }) {
      const missing = whole.filter(({ artifactId, parts }) => {
        const known = artifacts.get(artifactId)
        return !known || !isEqual(known.sent, parts)
      })
      const recorded = new Set(whole.map(({ artifactId }) => artifactId))
      const lost = [...artifacts.values()].filter(
        ({ about, sent }) => sent.length > 0 && !recorded.has(about.artifactId),
      )
      return [
        ...missing.map(({ parts, ...about }) => update(about, parts, false, true)),
        ...lost.map(({ about }) => update(about, NO_TEXT, false, true)),
        { type: 'status', taskId, contextId, status, final: true },
      ]
    },
  }
}

/** Events of agents are not validated: a block may be missing. */
const textOf = (block: { readonly type: string; readonly text?: unknown } | undefined): string =>
  typeof block?.text === 'string' && (block.type === 'text' || block.type === 'text-delta') ? block.text : ''

function addPart(parts: Part[], part: Part): void {
  const last = parts.at(-1)
  if (part.kind === 'text' && part.text === '') return
  if (part.kind === 'text' && last?.kind === 'text')
    parts[parts.length - 1] = { ...last, text: last.text + part.text }
  else parts.push(part)
}

/** Whether parts are equal, however their texts are split. */
const isEqual = (a: readonly Part[], b: readonly Part[]): boolean =>
  JSON.stringify(joined(a)) === JSON.stringify(joined(b))

function joined(parts: readonly Part[]): readonly Part[] {
  const whole: Part[] = []
  for (const part of parts) addPart(whole, part)
  return whole
}

/** A task to read, and the form that its client requested. */
export interface FollowedTask {
  readonly contextId: string
  readonly answer: Answer<readonly (ThreadEvent | LogGap)[]>
  readonly form: StreamForm
  /** Entries up to this sequence number are omitted, because the reader has them. Default: 0. */
  readonly seen?: number | undefined
  /** Returns a task with its artifacts. */
  readonly present: (found: FoundTask) => Promise<Task>
}

/** The past and live items of a task, in batches, until it ends or asks. */
export async function* followTask({
  contextId,
  answer,
  form,
  seen = 0,
  present,
}: FollowedTask): AsyncGenerator<readonly StreamEntry[], void, undefined> {
  const found = () => ({ contextId, ...answer.found })
  const translator = createTranslator(found(), form)
  let seq = answer.after
  for await (const events of answer) {
    const entries = translator.translate(events)
    seq = events.findLast((event) => event.type !== 'gap')?.seq ?? seq
    yield seen === 0 ? entries : entries.filter(({ id }) => Number(id) > seen)
  }
  // A reader that has seen more than there is has not seen this.
  const last = (seen > seq ? createTranslator(found(), form) : translator).close(await present(found()))
  // Only the last item has the number: a reader that disconnects before it gets all of them again, and they
  // replace those that it has.
  yield last.map((item) => (item === last.at(-1) ? { id: String(seq), item } : { item }))
}
