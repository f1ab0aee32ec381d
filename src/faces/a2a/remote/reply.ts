import { digestOf } from '../../../agents/function/journal/journal.ts'
import type { ContentBlock } from '../../../messages/index.ts'
import { isRecord } from '../../../messages/record.ts'
import type { A2AMessage, Artifact, Part, StreamItem, TaskState, TaskStatus } from '../model.ts'
import { blockOf } from '../parts/input.ts'

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

/**
 * Builds one message from the items of a remote agent. The texts of its artifacts and of its final status are
 * the answer; the texts of earlier statuses are reasoning. If one status continues the text of another, that
 * text is also the answer: LangGraph's server streams this way, and repeats the answer in an artifact at the
 * end. No text is repeated, and if several texts grow at the same time, one waits for the other.
 *
 * @param before The part of the task's artifacts that earlier exchanges have shown.
 */
export function createReply(writer: ReplyWriter, before: StreamedProgress = {}): Reply {
  const sources: TextSource[] = []
  const artifacts = new Map<string, TextSource>()
  const interrupts = new Map<string, { parts: readonly Part[]; isNew: boolean }>()
  let last: TextSource | undefined
  /** The last reasoning, unless text followed it. */
  let lastReasoning: TextSource | undefined
  let state: TaskState = 'working'
  let statusParts: readonly Part[] = []
  let fallback: readonly Part[] = []

  function addSource(isArtifact: boolean, kind: TextSource['kind'] = 'answer'): TextSource {
    const source: TextSource = {
      isArtifact,
      kind,
      text: '',
      said: '',
      blocks: [],
      saidBlocks: 0,
      isWhole: false,
    }
    sources.push(source)
    return source
  }

  /** Whether an artifact may still grow: other texts wait until it is complete. */
  const isOpen = (source: TextSource | undefined): boolean =>
    source?.isArtifact === true && source.said !== '' && !source.isWhole

  /**
   * Progress text was reasoning, unless the answer begins with it. While the answer is shorter, this is
   * undecided.
   */
  function decide(answer = ''): void {
    const source = sources.find(({ kind }) => kind === 'unknown')
    if (!source) return
    if (answer.startsWith(source.text)) source.said = source.text
    else if (answer !== '' && source.text.startsWith(answer)) return
    source.kind = 'reasoning'
  }

  async function sayText(source: TextSource): Promise<void> {
    const { text, isArtifact, kind, said } = source
    if (kind === 'unknown' || said.startsWith(text)) return
    if (kind === 'reasoning') {
      const rest = text.startsWith(said) ? text.slice(said.length) : text
      const gap = lastReasoning && lastReasoning !== source ? '\n\n' : ''
      source.said = text
      lastReasoning = source
      return void (await writer.reasoning(gap + rest))
    }
    const others = sources.filter(
      (other) => other.kind === 'answer' && other.isArtifact !== isArtifact && other.said !== '',
    )
    if (others.some((other) => other.said.startsWith(text))) return
    // The artifact continues where the statuses have ended, or the reverse.
    if (last && others.includes(last) && text.startsWith(last.said) && last.said.startsWith(source.said)) {
      source.said = last.said
      last = source
    }
    const rest = text.startsWith(source.said) ? text.slice(source.said.length) : text
    const isNext = last === source && rest.length < text.length
    const gap = last && !isNext ? '\n\n' : ''
    source.said = text
    last = source
    lastReasoning = undefined
    await writer.text(gap + rest)
  }

  async function say(source: TextSource): Promise<void> {
    await sayText(source)
    for (const part of source.blocks.slice(source.saidBlocks)) {
      source.saidBlocks++
      await writer.block(blockOf(part))
    }
  }

  async function sayAll(): Promise<void> {
    for (const source of sources) {
      if (isOpen(last) && last !== source) continue
      await say(source)
    }
  }

  async function pushArtifact(
    artifact: Artifact,
    append: boolean,
    isWhole: boolean,
    isNew: boolean,
  ): Promise<void> {
    const { artifactId, name, parts } = artifact
    if (name === INTERRUPT || interrupts.has(artifactId)) {
      const known = append ? (interrupts.get(artifactId)?.parts ?? []) : []
      const all = [...known, ...parts]
      interrupts.set(artifactId, { parts: all, isNew: isNew || before[artifactId]?.[2] !== digestOf(all) })
      return
    }
    const added = textOf(parts)
    const blocks = parts.filter(({ kind }) => kind !== 'text')
    let source = artifacts.get(artifactId)
    if (!source) {
      source = addSource(true)
      artifacts.set(artifactId, source)
      const [characters, count, hash] = before[artifactId] ?? [0, 0]
      const known = added.slice(0, characters)
      // The same id may have a different text.
      if (!append && hash === digestOf([known, blocks.slice(0, count)])) {
        source.said = known
        source.saidBlocks = count
      }
    }
    const isFluent = append && last === source && source.said.length === source.text.length
    source.text = append ? source.text + added : added
    if (blocks.length > 0 || !append) source.blocks = append ? [...source.blocks, ...blocks] : blocks
    source.isWhole = isWhole
    if (isFluent) {
      // Common case: avoids comparing the chunk with all earlier text.
      source.said = source.text
      if (added !== '') await writer.text(added)
      if (!isWhole && blocks.length === 0) return
    }
    if (source.text !== '') decide(source.text)
    await sayAll()
  }

  async function pushStatus({ state: now, message }: TaskStatus): Promise<void> {
    state = now
    statusParts = message?.parts ?? []
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
      decide()
      const source = grown ?? addSource(false, isDone ? 'answer' : 'unknown')
      source.text = text
    }
    if (isDone) addSource(false).blocks = statusParts.filter(({ kind }) => kind !== 'text')
    await sayAll()
  }

  async function pushMessage({ parts }: A2AMessage): Promise<void> {
    const source = addSource(false)
    source.text = textOf(parts)
    source.blocks = parts.filter(({ kind }) => kind !== 'text')
    await sayAll()
  }

  function questions(): readonly RemoteQuestion[] {
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

  return {
    async push(item) {
      switch (item.type) {
        case 'message':
          state = 'completed'
          return pushMessage(item.message)
        case 'artifact':
          return pushArtifact(item.artifact, item.append, item.lastChunk, true)
        case 'status':
          return pushStatus(item.status)
        case 'task': {
          const { artifacts = [], history = [], status } = item.task
          for (const artifact of artifacts) await pushArtifact(artifact, false, false, false)
          const newest = history.at(-1)
          fallback = newest?.role === 'agent' ? newest.parts : []
          return pushStatus(status)
        }
      }
    },
    async end() {
      const open = sources.find(({ kind }) => kind === 'unknown')
      decide(open && sources.find(({ isArtifact, text }) => isArtifact && text.startsWith(open.text))?.text)
      for (const source of sources) source.isWhole = true
      await sayAll()
      // Old servers only have the answer in the history.
      const isSilent = sources.every(
        ({ kind, said, saidBlocks }) => kind !== 'answer' || (said === '' && saidBlocks === 0),
      )
      if (state === 'completed' && isSilent && Object.keys(before).length === 0)
        await pushMessage({ messageId: '', role: 'agent', parts: fallback })
      return {
        state,
        text: textOf(statusParts),
        questions: questions(),
        said: Object.fromEntries([
          ...Object.entries(before),
          ...[...artifacts].map(([id, { text, blocks }]) => [
            id,
            [text.length, blocks.length, digestOf([text, blocks])],
          ]),
          ...[...interrupts].map(([id, { parts }]) => [id, [0, 0, digestOf(parts)]]),
        ]),
      }
    },
  }
}

const textOf = (parts: readonly Part[]): string =>
  parts.map((part) => (part.kind === 'text' ? part.text : '')).join('')

const questionOf = (data: unknown): RemoteQuestion =>
  isRecord(data) && 'value' in data
    ? { ...(typeof data.id === 'string' && { id: data.id }), value: data.value }
    : { value: data }
