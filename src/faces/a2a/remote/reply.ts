import { digestOf } from '../../../agents/function/journal/journal.ts'
import type { ContentBlock } from '../../../messages/index.ts'
import { isRecord } from '../../../messages/record.ts'
import type { A2AMessage, ArtifactUpdate, Part, StreamItem, TaskState, TaskStatus } from '../model.ts'
import { blockOf } from '../parts.ts'

/**
 * The known part of each artifact, by its id: characters of text, number of other parts, and a hash of both.
 */
export type StreamedProgress = Readonly<
  Record<string, readonly [characters: number, blocks: number, hash: string]>
>

/** A question from the remote agent. */
export interface RemoteQuestion {
  /** The id of the remote agent's interrupt. Absent if it asks with text. */
  readonly id?: string | undefined
  readonly value: unknown
}

/** The result of an exchange. */
export interface Outcome {
  readonly state: TaskState
  /** The remote agent's message for this state. */
  readonly text: string
  /** Empty unless the task waits for an answer. */
  readonly questions: readonly RemoteQuestion[]
  readonly said: StreamedProgress
}

/** Receives the answer of a remote agent. */
export interface ReplyWriter {
  text(text: string): unknown
  /** Receives the remote agent's progress messages. */
  reasoning(text: string): unknown
  block(block: ContentBlock): unknown
}

export interface Reply {
  push(item: StreamItem): Promise<void>
  /** Call once, at the end. */
  end(): Promise<Outcome>
}

/** A growing text: that of an artifact, or of statuses that each contain the whole text so far. */
interface TextSource {
  readonly isArtifact: boolean
  /**
   * Whether the text is the answer or reasoning. The text of a working status is unknown until the next text:
   * it is the answer if the next text continues it, because LangGraph's server streams its answer this way.
   */
  kind: 'answer' | 'reasoning' | 'unknown'
  text: string
  /** The part of the text that is in the message: its beginning, unless it was replaced by another text. */
  said: string
  /** The parts that are not text. */
  blocks: readonly Part[]
  saidBlocks: number
  isWhole: boolean
}

/** The name of the artifact in which LangGraph's server sends its interrupts. */
const INTERRUPT = 'Interrupt'

/** What is known of an answer, and what of it was written. */
const newReply = (writer: ReplyWriter, before: StreamedProgress) => ({
  writer,
  before,
  sources: [] as TextSource[],
  artifacts: new Map<string, TextSource>(),
  interrupts: new Map<string, { parts: readonly Part[]; isNew: boolean }>(),
  last: undefined as TextSource | undefined,
  /** The last reasoning, unless text followed it. */
  lastReasoning: undefined as TextSource | undefined,
  state: 'working' as TaskState,
  statusParts: [] as readonly Part[],
  /** The agent's last message in the history. */
  fallback: [] as readonly Part[],
})
type ReplyState = ReturnType<typeof newReply>

/**
 * Builds one message from the items of a remote agent. The texts of its artifacts and of its final status are
 * the answer; the texts of earlier statuses are reasoning. If one status continues the text of another, that
 * text is also the answer: LangGraph's server streams this way, and repeats the answer in an artifact at the
 * end. No text is repeated, and if several texts grow at the same time, one waits for the other.
 *
 * @param before The part of the task's artifacts that earlier exchanges have shown.
 */
export function createReply(writer: ReplyWriter, before: StreamedProgress = {}): Reply {
  const reply = newReply(writer, before)
  return { push: (item) => pushItem(reply, item), end: () => endReply(reply) }
}

async function pushItem(reply: ReplyState, item: StreamItem): Promise<void> {
  switch (item.type) {
    case 'message':
      reply.state = 'completed'
      return pushMessage(reply, item.message)
    case 'artifact':
      return pushArtifact(reply, item, true)
    case 'status':
      return pushStatus(reply, item.status)
    case 'task': {
      const { artifacts = [], history = [], status } = item.task
      const whole = { append: false, lastChunk: false }
      for (const artifact of artifacts) await pushArtifact(reply, { artifact, ...whole }, false)
      const newest = history.at(-1)
      reply.fallback = newest?.role === 'agent' ? newest.parts : []
      return pushStatus(reply, status)
    }
  }
}

async function endReply(reply: ReplyState): Promise<Outcome> {
  const { sources, before } = reply
  const open = sources.find(({ kind }) => kind === 'unknown')
  decide(
    reply,
    open && sources.find(({ isArtifact, text }) => isArtifact && text.startsWith(open.text))?.text,
  )
  for (const source of sources) source.isWhole = true
  await sayAll(reply)
  // Old servers only have the answer in the history.
  const isSilent = sources.every(
    ({ kind, said, saidBlocks }) => kind !== 'answer' || (said === '' && saidBlocks === 0),
  )
  if (reply.state === 'completed' && isSilent && Object.keys(before).length === 0)
    await pushMessage(reply, { parts: reply.fallback })
  return {
    state: reply.state,
    text: textOf(reply.statusParts),
    questions: questionsOf(reply),
    said: Object.fromEntries([
      ...Object.entries(before),
      ...[...reply.artifacts].map(([id, { text, blocks }]) => [
        id,
        [text.length, blocks.length, digestOf([text, blocks])],
      ]),
      ...[...reply.interrupts].map(([id, { parts }]) => [id, [0, 0, digestOf(parts)]]),
    ]),
  }
}

async function pushArtifact(
  reply: ReplyState,
  update: Pick<ArtifactUpdate, 'artifact' | 'append' | 'lastChunk'>,
  isNew: boolean,
): Promise<void> {
  const { artifact, append, lastChunk } = update
  const { artifactId, name, parts } = artifact
  const { before, interrupts, writer } = reply
  if (name === INTERRUPT || interrupts.has(artifactId)) {
    const known = append ? (interrupts.get(artifactId)?.parts ?? []) : []
    const all = [...known, ...parts]
    interrupts.set(artifactId, { parts: all, isNew: isNew || before[artifactId]?.[2] !== digestOf(all) })
    return
  }
  const added = textOf(parts)
  const blocks = parts.filter(({ kind }) => kind !== 'text')
  const source = reply.artifacts.get(artifactId) ?? addArtifact(reply, update, added, blocks)
  const isFluent = append && reply.last === source && source.said.length === source.text.length
  source.text = append ? source.text + added : added
  if (blocks.length > 0 || !append) source.blocks = append ? [...source.blocks, ...blocks] : blocks
  source.isWhole = lastChunk
  if (isFluent) {
    // Common case: avoids comparing the chunk with all earlier text.
    source.said = source.text
    if (added !== '') await writer.text(added)
    if (!lastChunk && blocks.length === 0) return
  }
  if (source.text !== '') decide(reply, source.text)
  await sayAll(reply)
}

/** A new artifact. What earlier exchanges have shown of it counts as written. */
function addArtifact(
  reply: ReplyState,
  { artifact: { artifactId }, append }: Pick<ArtifactUpdate, 'artifact' | 'append'>,
  text: string,
  blocks: readonly Part[],
): TextSource {
  const source = addSource(reply, true)
  reply.artifacts.set(artifactId, source)
  const [characters, count, hash] = reply.before[artifactId] ?? [0, 0]
  const known = text.slice(0, characters)
  // The same id may have a different text.
  if (!append && hash === digestOf([known, blocks.slice(0, count)])) {
    source.said = known
    source.saidBlocks = count
  }
  return source
}

async function pushStatus(reply: ReplyState, { state: now, message }: TaskStatus): Promise<void> {
  const { sources } = reply
  const statusParts = message?.parts ?? []
  reply.state = now
  reply.statusParts = statusParts
  if (now !== 'submitted' && now !== 'working' && now !== 'completed') return
  const text = textOf(statusParts)
  const newest = sources.findLast(({ isArtifact }) => !isArtifact)
  const isDone = now === 'completed'
  if (text !== '' && newest?.text.startsWith(text)) {
    if (isDone && newest.kind === 'unknown') newest.kind = 'answer'
  } else if (text !== '') {
    const goesOn = newest && text.startsWith(newest.text) && !(isDone && newest.kind === 'reasoning')
    const grown = goesOn ? newest : undefined
    if (grown?.kind === 'unknown') grown.kind = 'answer'
    decide(reply)
    const source = grown ?? addSource(reply, false, isDone ? 'answer' : 'unknown')
    source.text = text
  }
  if (isDone) addSource(reply, false).blocks = statusParts.filter(({ kind }) => kind !== 'text')
  await sayAll(reply)
}

async function pushMessage(reply: ReplyState, { parts }: Pick<A2AMessage, 'parts'>): Promise<void> {
  const source = addSource(reply, false)
  source.text = textOf(parts)
  source.blocks = parts.filter(({ kind }) => kind !== 'text')
  await sayAll(reply)
}

function addSource(reply: ReplyState, isArtifact: boolean, kind: TextSource['kind'] = 'answer'): TextSource {
  const source = { isArtifact, kind, text: '', said: '', blocks: [], saidBlocks: 0, isWhole: false }
  reply.sources.push(source)
  return source
}

/**
 * Progress text was reasoning, unless the answer begins with it. While the answer is shorter, this is
 * undecided.
 */
function decide({ sources }: ReplyState, answer = ''): void {
  const source = sources.find(({ kind }) => kind === 'unknown')
  if (!source) return
  if (answer.startsWith(source.text)) source.said = source.text
  else if (answer !== '' && source.text.startsWith(answer)) return
  source.kind = 'reasoning'
}

async function sayText(reply: ReplyState, source: TextSource): Promise<void> {
  const { sources, last, lastReasoning, writer } = reply
  const { text, isArtifact, kind, said } = source
  if (kind === 'unknown' || said.startsWith(text)) return
  if (kind === 'reasoning') {
    const rest = text.startsWith(said) ? text.slice(said.length) : text
    const gap = lastReasoning && lastReasoning !== source ? '\n\n' : ''
    source.said = text
    reply.lastReasoning = source
    await writer.reasoning(gap + rest)
    return
  }
  const others = sources.filter(
    (other) => other.kind === 'answer' && other.isArtifact !== isArtifact && other.said !== '',
  )
  if (others.some((other) => other.said.startsWith(text))) return
  // The artifact continues where the statuses have ended, or the reverse.
  const goesOn =
    last && others.includes(last) && text.startsWith(last.said) && last.said.startsWith(source.said)
  if (goesOn) source.said = last.said
  const rest = text.startsWith(source.said) ? text.slice(source.said.length) : text
  const isNext = (goesOn || last === source) && rest.length < text.length
  const gap = last && !isNext ? '\n\n' : ''
  source.said = text
  reply.last = source
  reply.lastReasoning = undefined
  await writer.text(gap + rest)
}

async function sayAll(reply: ReplyState): Promise<void> {
  for (const source of reply.sources) {
    const { last } = reply
    // Other texts wait until an artifact that may still grow is complete.
    if (last?.isArtifact && last.said !== '' && !last.isWhole && last !== source) continue
    await sayText(reply, source)
    for (const part of source.blocks.slice(source.saidBlocks)) {
      source.saidBlocks++
      await reply.writer.block(blockOf(part))
    }
  }
}

function questionsOf({ state, statusParts, interrupts }: ReplyState): readonly RemoteQuestion[] {
  const message = textOf(statusParts)
  if (state === 'auth-required') return [{ value: { type: 'auth-required', message } }]
  if (state !== 'input-required') return []
  const all = [...interrupts.values()]
  const fresh = all.filter(({ isNew }) => isNew)
  const asked = (fresh.length > 0 ? fresh : all.slice(-1)).flatMap(({ parts }) => parts)
  const given = asked.flatMap((part) => (part.kind === 'data' ? [questionOf(part.data)] : []))
  if (given.length > 0) return given
  const data = statusParts.find((part) => part.kind === 'data')
  return [{ value: message || data?.data || 'The remote agent asks for input.' }]
}

const textOf = (parts: readonly Part[]): string =>
  parts.map((part) => (part.kind === 'text' ? part.text : '')).join('')

const questionOf = (data: unknown): RemoteQuestion =>
  isRecord(data) && 'value' in data
    ? { ...(typeof data.id === 'string' && { id: data.id }), value: data.value }
    : { value: data }
