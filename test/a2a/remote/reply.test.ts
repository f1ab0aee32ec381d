import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Artifact, StreamItem, TaskState } from '../../../src/faces/a2a/model.ts'
import { createReply, type Outcome, type StreamedProgress } from '../../../src/faces/a2a/remote/reply.ts'

const PLACE = { taskId: 't', contextId: 'c' }

const status = (state: TaskState, text?: string): StreamItem => ({
  type: 'status',
  ...PLACE,
  status: {
    state,
    timestamp: '',
    ...(text !== undefined && {
      message: { messageId: 'm', role: 'agent', parts: [{ kind: 'text', text }] },
    }),
  },
  final: false,
})
const artifactOf = (artifactId: string, text: string, name?: string): Artifact => ({
  artifactId,
  name,
  parts: [{ kind: 'text', text }],
})
const chunk = (id: string, text: string, append: boolean, lastChunk = false): StreamItem => ({
  type: 'artifact',
  ...PLACE,
  artifact: artifactOf(id, text),
  append,
  lastChunk,
})
const snapshot = (artifacts: readonly Artifact[], state: TaskState = 'working'): StreamItem => ({
  type: 'task',
  task: { id: 't', contextId: 'c', status: { state, timestamp: '' }, artifacts },
})

async function said(
  items: readonly StreamItem[],
  before?: StreamedProgress,
): Promise<{ readonly text: string; readonly pieces: readonly string[]; readonly outcome: Outcome }> {
  const pieces: string[] = []
  const reply = createReply(
    { text: (piece) => pieces.push(piece), reasoning: () => {}, block: () => {} },
    before,
  )
  for (const item of items) await reply.push(item)
  const outcome = await reply.end()
  return { text: pieces.join(''), pieces, outcome }
}

const word = fc.string({ unit: fc.constantFrom('x', 'y', ' '), minLength: 1, maxLength: 4 })

/** Chunks of several artifacts in any order, each whole or not at its end, with the task as it is anywhere between. */
const stream = fc.array(fc.tuple(fc.nat(2), word, fc.boolean()), { maxLength: 30 }).map((steps) => {
  const texts = new Map<string, string>()
  const items: StreamItem[] = []
  for (const [at, text, isSnapshot] of steps) {
    const id = `${at}`
    const isNew = !texts.has(id)
    const added = isNew ? `<${id}>${text}` : text
    texts.set(id, (texts.get(id) ?? '') + added)
    items.push(chunk(id, added, !isNew))
    if (isSnapshot) items.push(snapshot([...texts].map(([one, whole]) => artifactOf(one, whole))))
  }
  return { items: [...items, status('completed')], texts: [...texts.values()] }
})

test('each artifact is said once and in one piece, however its chunks come and wherever the stream was cut', async () => {
  await fc.assert(
    fc.asyncProperty(stream, async ({ items, texts }) => {
      const { text } = await said(items)
      expect(text === '' ? [] : text.split('\n\n').toSorted()).toEqual(texts.toSorted())
    }),
    { numRuns: 300 },
  )
})

test('a text that statuses give bit by bit is said once, as far as it has come, and its artifact goes on with it', async () => {
  const cuts = fc.array(fc.nat(40), { maxLength: 8 }).map((all) => all.toSorted((a, b) => a - b))
  await fc.assert(
    fc.asyncProperty(fc.string({ minLength: 1, maxLength: 40 }), cuts, async (whole, at) => {
      const items = at.map((end) => status('working', whole.slice(0, end)))
      const { text } = await said([...items, chunk('a', whole, false, true), status('completed', whole)])
      expect(text).toBe(whole)
    }),
    { numRuns: 300 },
  )
})

test('what an earlier exchange has said is not said again, but another text under its id is', async () => {
  const first = await said([chunk('a', 'One.', false, true), status('input-required', 'More?')])
  const kept = JSON.parse(JSON.stringify(first.outcome.said))
  const again = await said([snapshot([artifactOf('a', 'One. Two.')]), status('completed')], kept)
  expect(again.text).toBe(' Two.')
  const other = await said([snapshot([artifactOf('a', 'Else, and more.')]), status('completed')], kept)
  expect(other.text).toBe('Else, and more.')
  const appended = await said([chunk('a', ' Three.', true), status('completed')], kept)
  expect(appended.text).toBe(' Three.')
})

test('of the interrupts of a task, those that are new are asked', async () => {
  const asking = (id: string, value: unknown): Artifact => ({
    artifactId: id,
    name: 'Interrupt',
    parts: [{ kind: 'data', data: { id, value } }],
  })
  const first = await said([snapshot([asking('1', 'A?')]), status('input-required')])
  expect(first.outcome.questions).toEqual([{ id: '1', value: 'A?' }])
  const { said: kept } = first.outcome
  const second = await said([snapshot([asking('1', 'A?'), asking('2', 'B?')], 'input-required')], kept)
  expect(second.outcome.questions).toEqual([{ id: '2', value: 'B?' }])
  const same = await said([snapshot([asking('1', 'A?')], 'input-required')], kept)
  expect(same.outcome.questions).toEqual([{ id: '1', value: 'A?' }])
})

test('a long answer in small chunks takes no time that grows with its length', async () => {
  const items = Array.from({ length: 200_000 }, (_, at) => chunk('a', 'ten chars.', at > 0))
  const before = process.cpuUsage()
  const { text } = await said([...items, status('completed')])
  expect(text.length).toBe(2_000_000)
  // Comparing the whole text for each chunk takes minutes.
  expect(process.cpuUsage(before).user / 1_000).toBeLessThan(5_000)
})
