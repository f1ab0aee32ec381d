import { expect, test } from 'vitest'
import { firstCheckpointOf } from '../../../../src/ops/devtools/page/data/runs.ts'
import type { CheckpointRow } from '../../../../src/ops/devtools/wire.ts'

const row = (id: number, task: string): CheckpointRow => ({
  checkpoint_id: `${id}`,
  checkpoint_ns: '',
  parent_id: null,
  step: id,
  source: 'loop',
  created_at: null,
  next: [],
  tasks: [{ task_id: task, name: task, error: null, interrupts: 0 }],
})

/** Newest first, two a page. */
function history(...tasks: readonly string[]) {
  const rows = tasks.map((task, index) => row(tasks.length - index, task))
  const read: (string | undefined)[] = []
  return {
    read,
    page: async (before: string | undefined) => {
      read.push(before)
      const at = rows.findIndex(({ checkpoint_id }) => checkpoint_id === before) + 1
      return rows.slice(at, at + 2)
    },
  }
}

test('finds the checkpoint of a task, page by page, and reads no further', async () => {
  const { read, page } = history('d', 'c', 'b', 'a', 'start', 'older', 'oldest')
  expect((await firstCheckpointOf('b', page))?.checkpoint_id).toBe('5')
  expect(read).toEqual([undefined, '6'])
})

test('takes the oldest of several checkpoints with a task', async () => {
  const { page } = history('other', 'a', 'a', 'a')
  expect((await firstCheckpointOf('a', page))?.checkpoint_id).toBe('1')
})

test('finds nothing for a task that no checkpoint has', async () => {
  const { read, page } = history('b', 'a')
  expect(await firstCheckpointOf('gone', page)).toBeUndefined()
  expect(read).toEqual([undefined, '1'])
})
