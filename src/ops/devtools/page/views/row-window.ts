import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

/** The height of a row, in pixels, as in the style sheet. */
export const ROW = 26
/** The id of the selected row, which screen readers follow. */
export const SELECTED_ROW = 'selected-row'
/** The number of rows to render beyond the visible ones. */
const BEYOND = 10

interface WindowOptions {
  readonly rows: readonly unknown[]
  /** The row to scroll to when it is selected, or -1. */
  readonly selectedAt: number
  /** Whether to follow the newest row unless the user has scrolled away from it. */
  readonly follow: boolean
}

/** Renders only the visible rows. Each is positioned below a head of one row, at `ROW` times its index. */
export function useWindow({ rows, selectedAt, follow }: WindowOptions) {
  const box = useRef<HTMLDivElement>(null)
  const atEnd = useRef(true)
  const [view, setView] = useState({ top: 0, height: 600 })
  const look = () => {
    // Scroll and resize events may come after the rows are gone.
    if (!box.current) return
    const { scrollTop, clientHeight, scrollHeight } = box.current
    atEnd.current = scrollHeight - scrollTop - clientHeight < ROW
    setView({ top: scrollTop, height: clientHeight })
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: after each change of the rows, and no other
  useLayoutEffect(() => {
    if (follow && atEnd.current && box.current) box.current.scrollTop = box.current.scrollHeight
    look()
  }, [rows, follow])
  // biome-ignore lint/correctness/useExhaustiveDependencies: once
  useEffect(() => {
    const observer = new ResizeObserver(look)
    observer.observe(box.current!)
    return () => observer.disconnect()
  }, [])
  useEffect(() => {
    if (selectedAt < 0 || !box.current) return
    const { scrollTop, clientHeight } = box.current
    const top = selectedAt * ROW
    if (top < scrollTop) box.current.scrollTop = top
    else if (top + 2 * ROW > scrollTop + clientHeight) box.current.scrollTop = top + 2 * ROW - clientHeight
  }, [selectedAt])
  const from = Math.max(0, Math.floor(view.top / ROW) - BEYOND)
  const to = Math.min(rows.length, Math.ceil((view.top + view.height) / ROW) + BEYOND)
  return { box, look, from, to }
}
