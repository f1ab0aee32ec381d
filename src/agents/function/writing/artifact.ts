import { isContentBlock } from '../../../messages/content.ts'
import { type ContentBlock, encodeBlock, type WireBlock } from '../../../messages/index.ts'
import { itemsOf } from '../../../messages/record.ts'
import { handled } from '../event-queue.ts'
import { idOf, nextPath, type OpenWrite, rejectSuspended, replayedCall, type Scope } from '../scope.ts'
import { frozenCopy, type State } from '../state.ts'
import type { ArtifactOptions, ArtifactWriter } from '../types.ts'

interface OpenArtifact {
  readonly scope: Scope
  readonly call: { readonly path: string; readonly kind: 'artifact' }
  readonly id: string
  /** The fields besides its content. */
  readonly about: object
  /** Completed by an earlier attempt: it is not changed. */
  readonly isReplayed: boolean
  /** Its entry among what the scope has open. */
  readonly write: OpenWrite
  readonly content: WireBlock[]
  /** Whether the last block is a text that a chunk continues. */
  isText: boolean
  phase: 'open' | 'ended' | 'failed'
  turn: Promise<void> | undefined
}

/** Streams an artifact of a scope. An artifact that an earlier attempt completed is not changed. */
export function openArtifact(scope: Scope, options: ArtifactOptions = {}): ArtifactWriter {
  const { queue } = scope.attempt
  const call = { path: nextPath(scope), kind: 'artifact' } as const
  const isRefused = rejectSuspended(scope) !== undefined
  const replayed = isRefused ? undefined : replayedCall(scope, call)
  const { name, description, metadata } = options
  const artifact: OpenArtifact = {
    scope,
    call,
    id: (replayed?.result as string | undefined) ?? options.id ?? idOf(scope, call.path),
    about: frozenCopy({ name, description, metadata }) as object,
    isReplayed: replayed !== undefined,
    write: { end: () => finish(artifact), fail: () => close(artifact, 'failed'), cut: () => [] },
    content: [],
    isText: false,
    phase: isRefused ? 'failed' : 'open',
    turn: undefined,
  }
  if (artifact.phase === 'open' && !replayed) {
    // Earlier changes are published in the state before this artifact begins.
    scope.state.flush()
    scope.openWrites.add(artifact.write)
    send(artifact, 'start', artifact.about)
  }

  /** Writing to an ended artifact throws even if the call is not awaited, because it is a mistake. */
  function refused(): Promise<never> | undefined {
    if (artifact.phase === 'ended') throw new TypeError('The artifact has ended. Start a new one.')
    return rejectSuspended(scope)
  }

  return {
    id: artifact.id,
    text: (text) => refused() ?? (text === '' ? queue.ready() : add(artifact, { type: 'text', text }, true)),
    block: (block) => refused() ?? add(artifact, encoded(block)),
    data: (value) => refused() ?? add(artifact, { type: 'data', data: frozenCopy(value) }),
    end: () => (artifact.phase === 'ended' ? end(artifact) : (refused() ?? end(artifact))),
  }
}

function send(
  { scope: { attempt, state }, isReplayed, phase, id }: OpenArtifact,
  event: 'start' | 'delta' | 'finish',
  fields?: object,
): void {
  if (isReplayed || phase === 'failed') return
  const payload = { event: `artifact-${event}`, id, ...fields }
  attempt.queue.put(state.event('custom', { name: 'artifact', payload }))
}

/** @param isChunk Part of a text, which continues the previous text. */
function add(artifact: OpenArtifact, block: WireBlock, isChunk = false): Promise<void> {
  const { content } = artifact
  const append = isChunk && artifact.isText
  artifact.isText = isChunk
  const last = content.length - 1
  if (append) content[last] = { ...block, text: `${content[last]!.text}${block.text}` }
  else content.push(block)
  send(artifact, 'delta', { block, ...(append && { append }) })
  return artifact.scope.attempt.queue.ready()
}

function close(artifact: OpenArtifact, as: 'ended' | 'failed'): void {
  artifact.scope.openWrites.delete(artifact.write)
  artifact.phase = as
}

function finish(artifact: OpenArtifact): void {
  const { scope, call, id, about, content } = artifact
  const { attempt, state } = scope
  if (artifact.phase !== 'open') return
  if (content.length === 0) void add(artifact, { type: 'text', text: '' })
  send(artifact, 'finish')
  close(artifact, 'ended')
  if (artifact.isReplayed) {
    state.log.advance(call.path)
    return
  }
  const value = frozenCopy({ id, run_id: attempt.runId, ...about, content })
  state.complete({ ...call, result: id }, () => {
    const artifacts = withArtifact(state.current(), id, value)
    state.change({ artifacts }, Object.freeze({ ...state.current(), artifacts }))
  })
}

function end(artifact: OpenArtifact): Promise<void> {
  const { attempt, state } = artifact.scope
  const { queue } = attempt
  // A cancelled run discards artifacts whose end was not sent.
  if (queue.closed) return queue.ready()
  if (artifact.phase === 'open') {
    finish(artifact)
    state.log.begin()
    const { isReplayed, call } = artifact
    artifact.turn = handled(isReplayed ? state.log.turnOf(call.path) : state.log.turnOfLast(queue.ready()))
  }
  return artifact.turn ?? Promise.resolve()
}

export async function writeArtifact(
  scope: Scope,
  content: string | ContentBlock | readonly ContentBlock[],
  options: ArtifactOptions,
): Promise<void> {
  const blocks: readonly ContentBlock[] =
    typeof content === 'string' ? [{ type: 'text', text: content }] : [content].flat()
  // Validated first, so that an invalid block does not leave a partial artifact.
  blocks.forEach(assertBlock)
  const writer = openArtifact(scope, options)
  for (const block of blocks) void writer.block(block)
  await writer.end()
}

function encoded(block: ContentBlock): WireBlock {
  assertBlock(block)
  return encodeBlock(frozenCopy(block) as ContentBlock)
}

function assertBlock(block: unknown): void {
  if (!isContentBlock(block))
    throw new TypeError("An artifact takes content blocks, such as { type: 'text', text: 'Hello' }.")
}

/** The artifacts of a state with one added. It replaces an artifact with the same id. */
function withArtifact({ artifacts }: State, id: string, artifact: unknown): readonly unknown[] {
  const before = itemsOf(artifacts)
  const place = before.findIndex((one) => (Object(one) as { readonly id?: unknown }).id === id)
  return Object.freeze(place < 0 ? [...before, artifact] : before.with(place, artifact))
}
