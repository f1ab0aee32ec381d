import { expect, test } from 'vitest'
import { captureWriteErrors } from '../../../src/agents/langgraph/saver-views.ts'
import { hooked, type SaverHook } from '../../../src/storage/checkpointer/hooks.ts'
import { FencedError } from '../../../src/storage/errors.ts'
import { memoryCheckpointer } from '../../../src/storage/memory/checkpointer.ts'

const checkpoint = (id: string) => ({
  v: 4,
  id,
  ts: new Date(0).toISOString(),
  channel_values: { id },
  channel_versions: { id: 1 },
  versions_seen: {},
})

/** Puts a chain of checkpoints, of which some attempts are refused, and gives what is saved: ids with their parents. */
async function savedOf(ids: readonly string[], isRefused: (id: string, attempt: number) => boolean) {
  const inner = memoryCheckpointer()
  const attempts = new Map<string, number>()
  const failures: unknown[] = []
  const refuse: SaverHook = {
    async put(put, ...args) {
      const { id } = args[1]
      attempts.set(id, (attempts.get(id) ?? 0) + 1)
      if (isRefused(id, attempts.get(id)!)) throw new FencedError('The lease has expired.')
      return put(...args)
    },
  }
  const saver = hooked(inner, [captureWriteErrors((error) => failures.push(error)), refuse])
  for (const [at, id] of ids.entries()) {
    const parent = at === 0 ? {} : { checkpoint_id: ids[at - 1] }
    const config = { configurable: { thread_id: 't', checkpoint_ns: '', ...parent } }
    await saver.put(config, checkpoint(id), { source: 'loop', step: at, parents: {} }, { id: 1 })
  }
  const saved: (readonly [string, unknown])[] = []
  for await (const tuple of inner.list({ configurable: { thread_id: 't' } }))
    saved.unshift([tuple.checkpoint.id, tuple.parentConfig?.configurable?.checkpoint_id])
  return { saved, failures }
}

test('a checkpoint that was refused once is written before its child', async () => {
  const { saved, failures } = await savedOf(
    ['1', '2', '3', '4'],
    (id, attempt) => (id === '2' || id === '3') && attempt === 1,
  )
  expect(saved).toEqual([
    ['1', undefined],
    ['2', '1'],
    ['3', '2'],
    ['4', '3'],
  ])
  expect(failures).toHaveLength(2)
})

test('no checkpoint is written whose parent is refused for ever', async () => {
  const { saved } = await savedOf(['1', '2', '3', '4'], (id) => id === '2')
  expect(saved).toEqual([['1', undefined]])
})
