import type { PreparedOp } from '../../store/commit.ts'
import { chunksOf } from '../../store/log-layout.ts'
import type { Guard } from '../../store/store.ts'
import { keyOf } from '../text.ts'

/** The parameters of the function `append` for a commit that is one append, in one chunk, under a fence; undefined for any other. */
export function encodeAppend(
  partition: string,
  guards: readonly Guard[],
  ops: readonly PreparedOp[],
): readonly unknown[] | undefined {
  const [op] = ops
  if (op?.op !== 'append' || ops.length > 1) return undefined
  let fence: number | null = null
  let head: number | null = null
  for (const guard of guards) {
    if (guard.guard === 'fence' && fence === null && Number.isSafeInteger(guard.token)) fence = guard.token
    else if (guard.guard === 'head' && head === null && Number.isSafeInteger(guard.seq)) head = guard.seq
    else return undefined
  }
  if (fence === null) return undefined
  const chunks = chunksOf(op.token, op.events)
  if (chunks.length !== 1) return undefined
  const { count, layout, data } = chunks[0]!
  return [keyOf(partition), fence, head, count, layout, data]
}
