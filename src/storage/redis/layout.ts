import { joined, type Layout, toBatch } from '../store/log-layout.ts'
import type { LogBatch, ReadQuery } from '../store/store.ts'
import { toUtf8 } from './store/entries.ts'

/** The batch in an answer of the script `READ`. */
export function readAnswer(answer: readonly unknown[], query: ReadQuery): LogBatch {
  const [head, firstRetained, firstLast, layoutBytes, parts] = answer as [
    number,
    number,
    number?,
    Uint8Array?,
    Uint8Array[]?,
  ]
  const layouts = layoutBytes ? (JSON.parse(`[${toUtf8(layoutBytes)}]`) as Layout[]) : []
  const first = layouts.length === 0 ? 0 : firstLast! - layouts[0]![3].length + 1
  const bytes = (start: number, end: number) => {
    const whole = joined(parts!)
    return new Uint8Array(whole.buffer, whole.byteOffset + start, end - start)
  }
  return toBatch({ head, firstRetained, first, layouts, bytes }, query)
}
