import { decodeBlock } from '../../messages/index.ts'
import type { Principal } from '../../principal.ts'
import type { AgentEngine, EventFilter, LogGap, ThreadEvent } from '../../runs/index.ts'
import type { Artifact, ArtifactUpdate, Part, StreamEntry, StreamItem, Task } from '../model.ts'
import type { StreamForm } from '../options.ts'
import { partOf } from '../parts/output.ts'
import { taskIdOf } from './ids.ts'
import { ANSWER_NAME, aboutArtifact, answerIdOf, type FoundTask, timestampOf } from './present.ts'

type Data = Readonly<Record<string, unknown>>

/** What a task's stream is made of, one entry of the log after the other. */
export interface Translator {
  /** The items that an event of the log becomes. */
  translate(event: ThreadEvent): readonly StreamItem[]
  /** The items that are missing when the task ends or asks: what the stream has not sent of its artifacts, and its status. */
  close(task: Task): readonly StreamItem[]
}

/** The events that a task's stream is made of. */
export const TASK_EVENTS: EventFilter = { channels: ['lifecycle', 'messages', 'custom:artifact'] }

/** An artifact that is being sent. */
interface OpenArtifact {
  readonly about: Omit<Artifact, 'parts'>
  /** What was sent, with neighbouring texts as one. */
  sent: Part[]
  /** A part that waits for the next event, which tells whether it is the last. */
  held: Part | undefined
  /** What comes next replaces what was sent. */
  isStale: boolean
  isFinished: boolean
}

const opened = (about: OpenArtifact['about']): OpenArtifact => ({
  about,
  sent: [],
  held: undefined,
  isStale: false,
  isFinished: false,
})

export function createTranslator({ contextId, record }: FoundTask, form: StreamForm): Translator {
  const taskId = taskIdOf(contextId, record.taskId)
  const answer = opened({ artifactId: answerIdOf(record), name: ANSWER_NAME })
  const artifacts = new Map<string, OpenArtifact>([[answer.about.artifactId, answer]])
  /** Where the answer is written at the moment, and how much of its open block was sent. */
  let writer: string | undefined
  let inBlock = 0
  let messageId = ''

  const chunk = (artifact: OpenArtifact, part: Part, lastChunk = false): ArtifactUpdate => {
    if (artifact.isStale) artifact.sent = []
    artifact.isStale = false
    const append = artifact.sent.length > 0
    addPart(artifact.sent, part)
    return {
      type: 'artifact',
      taskId,
      contextId,
      artifact: { ...artifact.about, parts: [part] },
      append,
      lastChunk,
    }
  }

  const ended = (artifact: OpenArtifact): readonly StreamItem[] => {
    const { held } = artifact
    artifact.isFinished = true
    artifact.held = undefined
    if (held) return [chunk(artifact, held, true)]
    return artifact.sent.length > 0 && !artifact.isStale
      ? [chunk(artifact, { kind: 'text', text: '' }, true)]
      : []
  }

  /** Text is sent at once, anything else with the next event: its end can then be told with it. */
  const added = (artifact: OpenArtifact, part: Part): readonly StreamItem[] => {
    const { held } = artifact
    const isText = part.kind === 'text'
    artifact.held = isText ? undefined : part
    return [...(held ? [chunk(artifact, held)] : []), ...(isText ? [chunk(artifact, part)] : [])]
  }

  const shown = (part: Part, timestamp: number): readonly StreamItem[] => {
    if (form === 'artifacts') return added(answer, part)
    if (answer.isStale) answer.sent = []
    answer.isStale = false
    addPart(answer.sent, part)
    const message = { messageId, role: 'agent', parts: [...answer.sent], contextId, taskId } as const
    const status = { state: 'working', message, timestamp: timestampOf(timestamp) } as const
    return [{ type: 'status', taskId, contextId, status, final: false }]
  }

  const onMessage = ({ namespace, data, timestamp }: ThreadEvent): readonly StreamItem[] => {
    const { event, id, role, delta, content } = data as Data
    const place = namespace[0] ?? ''
    if (event === 'message-start') {
      if (role !== undefined && role !== 'ai') return []
      writer = place
      messageId = String(id ?? '')
      inBlock = 0
      answer.held = undefined
      answer.isStale = true
      return []
    }
    if (place !== writer) return []
    switch (event) {
      case 'content-block-start':
        inBlock = 0
        return textOf(content) === '' ? [] : onText(textOf(content), timestamp)
      case 'content-block-delta':
        return onText(textOf(delta), timestamp)
      case 'content-block-finish': {
        const [part] = partOf(decodeBlock(content) ?? { type: 'reasoning', text: '' })
        if (part?.kind === 'text') return onText(part.text.slice(inBlock), timestamp)
        return part ? shown(part, timestamp) : []
      }
      case 'message-finish':
        writer = undefined
        return form === 'artifacts' ? ended(answer) : []
      case 'error':
        writer = undefined
        return []
      default:
        return []
    }
  }

  const onText = (text: string, timestamp: number): readonly StreamItem[] => {
    if (text === '') return []
    inBlock += text.length
    return shown({ kind: 'text', text }, timestamp)
  }

  const onArtifact = (payload: Data): readonly StreamItem[] => {
    const { event, id, block } = payload
    if (typeof id !== 'string') return []
    if (event === 'artifact-start') {
      artifacts.set(id, opened({ artifactId: id, ...aboutArtifact(payload) }))
      return []
    }
    const artifact = artifacts.get(id)
    if (!artifact || artifact === answer) return []
    if (event === 'artifact-finish') return ended(artifact)
    const [part] = partOf(decodeBlock(block) ?? { type: 'reasoning', text: '' })
    return part ? added(artifact, part) : []
  }

  return {
    translate(event) {
      if (event.method === 'messages') {
        // Messages of subagents and of tools are no answer to the client.
        const { namespace } = event
        return namespace.length > 1 || namespace[0]?.startsWith('tools:') ? [] : onMessage(event)
      }
      if (event.method === 'custom') return onArtifact(payloadOf(event.data))
      if ((event.data as Data).event !== 'running') return []
      const status = { state: 'working', timestamp: timestampOf(event.timestamp) } as const
      return [{ type: 'status', taskId, contextId, status, final: false }]
    },
    close({ artifacts: whole = [], status }) {
      const missing = whole.filter((artifact) => {
        const known = artifacts.get(artifact.artifactId)
        return form === 'messages' || !known?.isFinished || !isEqual(known.sent, artifact.parts)
      })
      return [
        ...missing.map(
          (artifact): StreamItem => ({
            type: 'artifact',
            taskId,
            contextId,
            artifact,
            append: false,
            lastChunk: true,
          }),
        ),
        { type: 'status', taskId, contextId, status, final: true },
      ]
    },
  }
}

const textOf = (block: unknown): string => {
  const { type, text } = Object(block) as Data
  return typeof text === 'string' && (type === 'text' || type === 'text-delta') ? text : ''
}

/** The event of `custom:artifact`. */
const payloadOf = (data: unknown): Data => Object((Object(data) as Data).payload) as Data

function addPart(parts: Part[], part: Part): void {
  const last = parts.at(-1)
  if (part.kind === 'text' && part.text === '') return
  if (part.kind === 'text' && last?.kind === 'text')
    parts[parts.length - 1] = { ...last, text: last.text + part.text }
  else parts.push(part)
}

/** Whether parts are the same, however their texts were cut. */
const isEqual = (a: readonly Part[], b: readonly Part[]): boolean =>
  JSON.stringify(joined(a)) === JSON.stringify(joined(b))

function joined(parts: readonly Part[]): readonly Part[] {
  const whole: Part[] = []
  for (const part of parts) addPart(whole, part)
  return whole
}

/**
 * The items of a task from the beginning of one of its runs, past and live, until it ends or asks. `after` is the sequence number
 * before the run, and `reload` gives the task as it is recorded now, with its artifacts. Entries up to the sequence number `seen`
 * are left out: their reader has them.
 */
export async function* followTask(
  engine: AgentEngine,
  found: FoundTask,
  options: {
    readonly form: StreamForm
    readonly runId: string
    readonly after: number
    readonly principal: Principal | null
    readonly signal: AbortSignal | undefined
    readonly seen?: number | undefined
    readonly reload: () => Promise<{ readonly found: FoundTask; readonly task: Task }>
  },
): AsyncGenerator<StreamEntry, void, undefined> {
  const { form, runId, after, principal, signal, seen = 0, reload } = options
  const { threadId } = found.thread
  const translator = createTranslator(found, form)
  let { runIds } = found.record
  let seq = after
  for (let at = runIds.indexOf(runId); ; at++) {
    const run = { threadId, principal, runId: runIds[at]! }
    const events = engine.events({ ...run, after: seq, filter: TASK_EVENTS, signal })
    for await (const event of events) {
      if (isGap(event)) continue
      seq = event.seq
      const items = translator.translate(event)
      if (seq > seen) yield* entriesOf(items, seq)
    }
    if (at < runIds.length - 1) continue
    const now = await reload()
    runIds = now.found.record.runIds
    if (at < runIds.length - 1) continue
    yield* entriesOf(translator.close(now.task), seq)
    return
  }
}

const isGap = (event: ThreadEvent | LogGap): event is LogGap => event.type === 'gap'

/** Only the last item of an event has its number: a reader that was cut off before it gets all of them again. */
function* entriesOf(items: readonly StreamItem[], seq: number): Generator<StreamEntry> {
  for (let i = 0; i < items.length; i++) {
    const item = items[i]!
    yield i === items.length - 1 ? { id: String(seq), item } : { item }
  }
}
