import { digestOf } from '../../agents/function/journal/journal.ts'
import type { ContentBlock } from '../../messages/index.ts'
import { isRecord } from '../../messages/record.ts'
import type { A2AMessage, Artifact, Part, StreamItem, TaskState, TaskStatus } from '../model.ts'
import { blockOf } from '../parts/input.ts'

/** How much of each artifact is known by now: characters of text, and other parts, with a hash of both. By the artifact's id. */
export type StreamedProgress = Readonly<
  Record<string, readonly [characters: number, blocks: number, hash: string]>
>

/** Something that the remote wants to know. */
export interface RemoteQuestion {
  /** The id of the remote's own interrupt. Absent where the remote asks by text. */
  readonly id?: string | undefined
  readonly value: unknown
}

/** How an exchange has ended. */
export interface Outcome {
  readonly state: TaskState
  /** What the remote says of this state. */
  readonly text: string
  /** Empty unless the task waits for an answer. */
  readonly questions: readonly RemoteQuestion[]
  readonly said: StreamedProgress
}

/** Where the answer of a remote is written. */
export interface ReplyWriter {
  text(text: string): unknown
  /** Told of what the remote says of its work. */
  reasoning(text: string): unknown
  block(block: ContentBlock): unknown
}

export interface Reply {
  push(item: StreamItem): Promise<void>
  /** To be called once, at the end. */
  end(): Promise<Outcome>
}

/** A text that grows: that of an artifact, or of statuses of which each has the whole text so far. */
interface TextSource {
  readonly isArtifact: boolean
  /**
   * Whether the text is the answer or reasoning. That of a status that works is unknown until the next text: the answer if that
   * goes on with it, because LangGraph's server streams its answer so.
   */
  kind: 'answer' | 'reasoning' | 'unknown'
  text: string
  /** What of the text is in the message: its beginning, unless it was replaced by another one. */
  said: string
  /** The parts that are not text. */
  blocks: readonly Part[]
  saidBlocks: number
  isWhole: boolean
}

/** The artifact in which LangGraph's server has its interrupts. */
const INTERRUPT = 'Interrupt'

/**
 * Makes one message of what a remote says. The texts of its artifacts, as they grow, and of its end are the answer, the texts of its
 * statuses until then are reasoning. Where one status goes on with the text of another, that text is the answer too: LangGraph's
 * server streams so, and repeats the answer in an artifact at the end. What was said is not said again, and of several texts that
 * grow at once one waits for the other.
 *
 * @param before What of the task's artifacts was said in earlier exchanges.
 */
export function createReply(writer: ReplyWriter, before: StreamedProgress = {}): Reply {
  const sources: TextSource[] = []
  const artifacts = new Map<string, TextSource>()
  const interrupts = new Map<string, { parts: readonly Part[]; isNew: boolean }>()
  let last: TextSource | undefined
  /** What was reasoned, where no text followed. */
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

  /** An artifact that may still grow: nothing else is said until it is whole. */
  const isOpen = (source: TextSource | undefined): boolean =>
    source?.isArtifact === true && source.said !== '' && !source.isWhole

  /** What was said of the work was reasoning, unless the answer begins with it. While the answer is shorter, that is open. */
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
    // The artifact goes on where the statuses have ended, or the reverse.
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
      // Another text may stand under the same id.
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
      // The usual chunk is not compared with all that was said before.
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
      // Old servers have the answer in the history alone.
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
