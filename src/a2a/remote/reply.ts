import { digestOf } from '../../agents/function/journal/journal.ts'
import type { ContentBlock } from '../../messages/index.ts'
import { isRecord } from '../../messages/record.ts'
import type { A2AMessage, Artifact, Part, StreamItem, TaskState, TaskStatus } from '../model.ts'
import { blockOf } from '../parts/input.ts'

/** How much of each artifact is known by now: characters of text, and other parts, with a hash of both. By the artifact's id. */
export type Said = Readonly<Record<string, readonly [characters: number, blocks: number, hash: string]>>

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
  readonly said: Said
}

/** Where the answer of a remote is written. */
export interface ReplyWriter {
  text(text: string): unknown
  block(block: ContentBlock): unknown
}

export interface Reply {
  push(item: StreamItem): Promise<void>
  /** To be called once, at the end. */
  end(): Promise<Outcome>
}

/** A text that grows: that of an artifact, or of statuses of which each has the whole text so far. */
interface Voice {
  readonly isArtifact: boolean
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
 * Makes one message of what a remote says: the texts of its artifacts as they grow, and the texts of its statuses until it is done,
 * because LangGraph's server streams its answer in them and repeats it in an artifact at the end. What was said is not said again,
 * and of several texts that grow at once one waits for the other.
 *
 * @param before What of the task's artifacts was said in earlier exchanges.
 */
export function createReply(writer: ReplyWriter, before: Said = {}): Reply {
  const voices: Voice[] = []
  const artifacts = new Map<string, Voice>()
  const interrupts = new Map<string, { parts: readonly Part[]; isNew: boolean }>()
  let last: Voice | undefined
  let state: TaskState = 'working'
  let statusParts: readonly Part[] = []
  let fallback: readonly Part[] = []

  function addVoice(isArtifact: boolean): Voice {
    const voice = { isArtifact, text: '', said: '', blocks: [], saidBlocks: 0, isWhole: false }
    voices.push(voice)
    return voice
  }

  /** An artifact that may still grow: nothing else is said until it is whole. */
  const isOpen = (voice: Voice | undefined): boolean =>
    voice?.isArtifact === true && voice.said !== '' && !voice.isWhole

  async function sayText(voice: Voice): Promise<void> {
    const { text, isArtifact } = voice
    if (voice.said.startsWith(text)) return
    const others = voices.filter((other) => other.isArtifact !== isArtifact && other.said !== '')
    if (others.some((other) => other.said.startsWith(text))) return
    // The artifact goes on where the statuses have ended, or the reverse.
    if (last && others.includes(last) && text.startsWith(last.said) && last.said.startsWith(voice.said)) {
      voice.said = last.said
      last = voice
    }
    const rest = text.startsWith(voice.said) ? text.slice(voice.said.length) : text
    const isNext = last === voice && rest.length < text.length
    const gap = last && !isNext ? '\n\n' : ''
    voice.said = text
    last = voice
    await writer.text(gap + rest)
  }

  async function say(voice: Voice): Promise<void> {
    await sayText(voice)
    for (const part of voice.blocks.slice(voice.saidBlocks)) {
      voice.saidBlocks++
      await writer.block(blockOf(part))
    }
  }

  async function sayAll(): Promise<void> {
    for (const voice of voices) {
      if (isOpen(last) && last !== voice) continue
      await say(voice)
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
    let voice = artifacts.get(artifactId)
    if (!voice) {
      voice = addVoice(true)
      artifacts.set(artifactId, voice)
      const [characters, count, hash] = before[artifactId] ?? [0, 0]
      const known = added.slice(0, characters)
      // Another text may stand under the same id.
      if (!append && hash === digestOf([known, blocks.slice(0, count)])) {
        voice.said = known
        voice.saidBlocks = count
      }
    }
    const isFluent = append && last === voice && voice.said.length === voice.text.length
    voice.text = append ? voice.text + added : added
    if (blocks.length > 0 || !append) voice.blocks = append ? [...voice.blocks, ...blocks] : blocks
    voice.isWhole = isWhole
    if (isFluent) {
      // The usual chunk is not compared with all that was said before.
      voice.said = voice.text
      if (added !== '') await writer.text(added)
      if (!isWhole && blocks.length === 0) return
    }
    await sayAll()
  }

  async function pushStatus({ state: now, message }: TaskStatus): Promise<void> {
    state = now
    statusParts = message?.parts ?? []
    if (now !== 'submitted' && now !== 'working' && now !== 'completed') return
    const text = textOf(statusParts)
    const newest = voices.findLast(({ isArtifact }) => !isArtifact)
    const isRepeated = newest?.text.startsWith(text)
    if (text !== '' && !isRepeated) {
      const voice = newest && text.startsWith(newest.text) ? newest : addVoice(false)
      voice.text = text
    }
    if (now === 'completed') addVoice(false).blocks = statusParts.filter(({ kind }) => kind !== 'text')
    await sayAll()
  }

  async function pushMessage({ parts }: A2AMessage): Promise<void> {
    const voice = addVoice(false)
    voice.text = textOf(parts)
    voice.blocks = parts.filter(({ kind }) => kind !== 'text')
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
      for (const voice of voices) voice.isWhole = true
      await sayAll()
      // Old servers have the answer in the history alone.
      const isSilent = voices.every(({ said, saidBlocks }) => said === '' && saidBlocks === 0)
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
