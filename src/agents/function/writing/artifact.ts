import { isContentBlock } from '../../../messages/content.ts'
import { type ContentBlock, encodeBlock, type WireBlock } from '../../../messages/index.ts'
import { itemsOf } from '../../../messages/record.ts'
import { handled } from '../event-queue.ts'
import { idOf, nextPath, type OpenWrite, rejectSuspended, replayedCall, type Scope } from '../scope.ts'
import { frozenCopy, type State } from '../state.ts'
import type { ArtifactOptions, ArtifactWriter } from '../types.ts'

/** Streams an artifact of a scope. An artifact that an earlier attempt completed is not changed. */
export function openArtifact(scope: Scope, options: ArtifactOptions = {}): ArtifactWriter {
  const { attempt, state } = scope
  const { queue, runId } = attempt
  const path = nextPath(scope)
  const call = { path, kind: 'artifact' } as const
  const isRefused = rejectSuspended(scope) !== undefined
  const replayed = isRefused ? undefined : replayedCall(scope, call)
  const id = (replayed?.result as string | undefined) ?? options.id ?? idOf(scope, path)
  const { name, description, metadata } = options
  const about = frozenCopy({ name, description, metadata }) as object
  const content: WireBlock[] = []
  let isText = false
  let phase: 'open' | 'ended' | 'failed' = isRefused ? 'failed' : 'open'
  let turn: Promise<void> | undefined

  const open: OpenWrite = { end: finish, fail: () => close('failed'), cut: () => [] }
  if (phase === 'open' && !replayed) {
    // Earlier changes are published in the state before this artifact begins.
    state.flush()
    scope.openWrites.add(open)
    send('start', about)
  }

  function send(event: 'start' | 'delta' | 'finish', fields?: object): void {
    if (replayed || phase === 'failed') return
    const payload = { event: `artifact-${event}`, id, ...fields }
    queue.put(state.event('custom', { name: 'artifact', payload }))
  }

  /** @param isChunk Part of a text, which continues the previous text. */
  function add(block: WireBlock, isChunk = false): Promise<void> {
    const append = isChunk && isText
    isText = isChunk
    const last = content.length - 1
    if (append) content[last] = { ...block, text: `${content[last]!.text}${block.text}` }
    else content.push(block)
    send('delta', { block, ...(append && { append }) })
    return queue.ready()
  }

  function close(as: 'ended' | 'failed'): void {
    scope.openWrites.delete(open)
    phase = as
  }

  function finish(): void {
    if (phase !== 'open') return
    if (content.length === 0) void add({ type: 'text', text: '' })
    send('finish')
    close('ended')
    if (replayed) {
      state.log.advance(path)
      return
    }
    const artifact = frozenCopy({ id, run_id: runId, ...about, content })
    state.complete({ ...call, result: id }, () => {
      const artifacts = withArtifact(state.current(), id, artifact)
      state.change({ artifacts }, Object.freeze({ ...state.current(), artifacts }))
    })
  }

  function end(): Promise<void> {
    // A cancelled run discards artifacts whose end was not sent.
    if (queue.closed) return queue.ready()
    if (phase === 'open') {
      finish()
      state.log.begin()
      turn = handled(replayed ? state.log.turnOf(path) : state.log.turnOfLast(queue.ready()))
    }
    return turn ?? Promise.resolve()
  }

  /** Writing to an ended artifact throws even if the call is not awaited, because it is a mistake. */
  function refused(): Promise<never> | undefined {
    if (phase === 'ended') throw new TypeError('The artifact has ended. Start a new one.')
    return rejectSuspended(scope)
  }

  return {
    id,
    text: (text) => refused() ?? (text === '' ? queue.ready() : add({ type: 'text', text }, true)),
    block: (block) => refused() ?? add(encoded(block)),
    data: (value) => refused() ?? add({ type: 'data', data: frozenCopy(value) }),
    end: () => (phase === 'ended' ? end() : (refused() ?? end())),
  }
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
