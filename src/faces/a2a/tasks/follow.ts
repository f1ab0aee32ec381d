import type { Answer, EventFilter } from '../../../engine/index.ts'
import { createMessageDecoder, decodeBlock, type MessageDecoder } from '../../../messages/index.ts'
import { isRecord } from '../../../messages/record.ts'
import {
  createOpenMessages,
  isEnd,
  type LogGap,
  type ThreadEvent,
} from '../../../messages/thread-events/index.ts'
import type { AnswerDetail } from '../../kit/reading/answer-item.ts'
import { createMessageReader, type MessageReader } from '../../kit/reading/message-reader.ts'
import type { A2AMessage, Artifact, ArtifactUpdate, Part, StreamEntry, StreamItem, Task } from '../model.ts'
import type { StreamForm } from '../options.ts'
import { partOf } from '../parts.ts'
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

export function createTranslator({ contextId, record }: FoundTask, form: StreamForm): Translator {
  const place = { taskId: taskIdOf(contextId, record.taskId), contextId }
  const artifacts = createSentArtifacts(place)
  const answer = createAnswer(artifacts, { artifactId: answerIdOf(record), name: ANSWER_NAME }, place, form)

  function onArtifact(payload: unknown, entries: StreamEntry[]): StreamItem | undefined {
    if (!isRecord(payload) || typeof payload.id !== 'string') return undefined
    const { event, id, block } = payload
    if (id === answerIdOf(record)) return undefined
    if (event === 'artifact-start') return artifacts.begin({ artifactId: id, ...aboutArtifact(payload) })
    if (event === 'artifact-finish') return artifacts.end(id, entries)
    return artifacts.add(id, partOf(decodeBlock(block) ?? { type: 'reasoning', text: '' }))
  }

  function itemOf(event: ThreadEvent, entries: StreamEntry[]): StreamItem | undefined {
    const { namespace } = event
    if (event.method === 'messages') {
      // Messages of subagents and tools are not part of the answer.
      const isOther = namespace.length > 1 || namespace[0]?.startsWith('tools:')
      return isOther ? undefined : answer.push(event, entries)
    }
    if (namespace.length > 0) return undefined
    if (event.method === 'custom') return onArtifact(event.data.payload, entries)
    const isBegin = event.method === 'lifecycle' && event.data.event === 'running'
    return isBegin ? working(place, event.timestamp) : undefined
  }

  return {
    translate(events) {
      const entries: StreamEntry[] = []
      for (const event of events) {
        if (event.type === 'gap') {
          answer.skip()
          artifacts.skip()
          continue
        }
        const item = itemOf(event, entries)
        if (item) entries.push({ id: String(event.seq), item })
      }
      return entries
    },
    close: ({ artifacts: whole = [], status }) => [
      ...artifacts.missing(whole),
      { type: 'status', ...place, status, final: true },
    ],
  }
}

/** The ids that each item of a task has. */
interface Place {
  readonly taskId: string
  readonly contextId: string
}

const working = ({ taskId, contextId }: Place, at: number, message?: A2AMessage): StreamItem => ({
  type: 'status',
  taskId,
  contextId,
  status: { state: 'working', ...(message && { message }), timestamp: timestampOf(at) },
  final: false,
})

/** The answer of a task as its stream shows it: the message that began last. */
function createAnswer(artifacts: SentArtifacts, about: AboutArtifact, place: Place, form: StreamForm) {
  artifacts.begin(about)
  let writing: Writing | undefined
  const open = createOpenMessages(({ data }: ThreadEvent<'messages'>, id = ''): Writing | undefined => {
    if (((data as { readonly role?: string }).role ?? 'ai') !== 'ai') return undefined
    artifacts.begin(about)
    const reader = createMessageReader({ id, owner: null, node: undefined })
    return (writing = { id, decoder: createMessageDecoder(), reader, parts: [] })
  })
  return {
    push(event: ThreadEvent<'messages'>, entries: StreamEntry[]): StreamItem | undefined {
      const message = open.of(event)
      if (!message || message !== writing) return undefined
      const { data, timestamp } = event
      const parts: Part[] = []
      for (const one of message.decoder.push(data))
        for (const detail of message.reader.push(one))
          for (const part of partsOfDetail(detail)) addPart(parts, part)
      if (isEnd(data)) writing = undefined
      if (form === 'artifacts') {
        if (data.event === 'message-finish') artifacts.end(about.artifactId, entries)
        return artifacts.add(about.artifactId, parts)
      }
      if (parts.length === 0) return undefined
      for (const part of parts) addPart(message.parts, part)
      const shown = { messageId: message.id, role: 'agent', parts: [...message.parts], ...place } as const
      return working(place, timestamp, shown)
    },
    /** Leaves the message to the record. */
    skip(): void {
      writing = undefined
    },
  }
}

/** A message that is being written. */
interface Writing {
  readonly id: string
  readonly decoder: MessageDecoder
  readonly reader: MessageReader
  /** The parts that were shown. */
  readonly parts: Part[]
}

/** The parts of a message that an item adds. */
function partsOfDetail(detail: AnswerDetail): readonly Part[] {
  if (detail.type === 'textDelta') return [{ kind: 'text', text: detail.text }]
  if (detail.type === 'media') return partOf(detail.block)
  return detail.type === 'other' ? partOf({ type: 'nonStandard', value: detail.value }) : []
}

type AboutArtifact = Omit<Artifact, 'parts'>

/** An artifact that is being sent. */
interface SentArtifact {
  readonly about: AboutArtifact
  /** The parts that were sent, with adjacent texts joined. */
  sent: Part[]
  /** Whether the next part replaces those that were sent. */
  isStale: boolean
  isFinished: boolean
}

type SentArtifacts = ReturnType<typeof createSentArtifacts>

/** The artifacts of a task as its stream sends them. */
function createSentArtifacts({ taskId, contextId }: { readonly taskId: string; readonly contextId: string }) {
  const artifacts = new Map<string, SentArtifact>()
  const update = (
    about: AboutArtifact,
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

  return {
    /** The next parts of the artifact replace those that were sent. */
    begin(about: AboutArtifact): undefined {
      const sent = artifacts.get(about.artifactId)?.sent ?? []
      artifacts.set(about.artifactId, { about, sent, isStale: true, isFinished: false })
    },
    add(id: string, parts: readonly Part[]): ArtifactUpdate | undefined {
      const artifact = artifacts.get(id)
      if (!artifact || artifact.isFinished || parts.length === 0) return undefined
      const append = !artifact.isStale
      if (artifact.isStale) artifact.sent = []
      artifact.isStale = false
      for (const part of parts) addPart(artifact.sent, part)
      return update(artifact.about, parts, append, false)
    },
    /** Marks the last part of an artifact as its end, if it is among the entries. */
    end(id: string, entries: StreamEntry[]): undefined {
      const artifact = artifacts.get(id)
      if (!artifact || artifact.isFinished) return
      artifact.isFinished = true
      if (artifact.isStale) return
      const isOf = ({ item }: StreamEntry) => item.type === 'artifact' && item.artifact.artifactId === id
      const at = entries.findLastIndex(isOf)
      const { id: seq, item } = entries[at] ?? {}
      if (item?.type === 'artifact') entries[at] = { id: seq, item: { ...item, lastChunk: true } }
    },
    /** Leaves all artifacts to `missing`. */
    skip(): undefined {
      for (const artifact of artifacts.values()) artifact.isFinished = true
    },
    /** What brings the artifacts that were sent to those of the record. */
    missing(whole: readonly Artifact[]): readonly ArtifactUpdate[] {
      const missing = whole.filter(({ artifactId, parts }) => !isSame(artifacts.get(artifactId)?.sent, parts))
      const recorded = new Set(whole.map(({ artifactId }) => artifactId))
      const lost = [...artifacts.values()].filter(
        ({ about, sent }) => sent.length > 0 && !recorded.has(about.artifactId),
      )
      return [
        ...missing.map(({ parts, ...about }) => update(about, parts, false, true)),
        ...lost.map(({ about }) => update(about, [{ kind: 'text', text: '' }], false, true)),
      ]
    },
  }
}

function addPart(parts: Part[], part: Part): void {
  const last = parts.at(-1)
  if (part.kind === 'text' && part.text === '') return
  if (part.kind === 'text' && last?.kind === 'text')
    parts[parts.length - 1] = { kind: 'text', text: last.text + part.text }
  else parts.push(part)
}

/** Whether an artifact was sent as it is, however its texts are split. */
const isSame = (sent: readonly Part[] | undefined, parts: readonly Part[]): boolean =>
  sent !== undefined && JSON.stringify(joined(sent)) === JSON.stringify(joined(parts))

/** Parts with adjacent texts joined. */
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
