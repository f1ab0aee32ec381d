import { useLayoutEffect, useRef } from 'preact/hooks'

/** A key, as `KeyboardEvent.key` names it, and what it does. */
export type KeyAction = readonly [key: string, action: () => void]

/** What each part of the page does with a key. The part that came last is asked first. */
const parts: { current: readonly KeyAction[] }[] = []

/** Keys of a part of the page, for as long as it is shown. */
export function useKeys(keys: readonly KeyAction[]): void {
  const part = useRef(keys)
  part.current = keys
  // An ordinary effect is undone only after the next frame: until then a key would go to a part that is gone.
  useLayoutEffect(() => {
    parts.push(part)
    return () => void parts.splice(parts.indexOf(part), 1)
  }, [])
}

/** The keys that move the selection of a list: to its start where nothing is selected. */
export const moveKeys = <Item>(
  list: readonly Item[],
  selected: number,
  select: (item: Item) => void,
): readonly KeyAction[] => {
  const move = (by: number) => () => {
    const next = list[selected < 0 ? 0 : Math.min(list.length - 1, Math.max(0, selected + by))]
    if (next !== undefined) select(next)
  }
  return [
    ['j', move(1)],
    ['k', move(-1)],
  ]
}

const ARROWS: Readonly<Record<string, string>> = { ArrowDown: 'j', ArrowUp: 'k' }

/** In a list that has the focus, the arrow keys do what `j` and `k` do everywhere. */
export const arrowKeys =
  (keys: readonly KeyAction[]) =>
  (event: KeyboardEvent): void => {
    const action = keys.find(([key]) => key === ARROWS[event.key])?.[1]
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    action()
  }

/** Gives keys to the parts of the page, but for those that are typed into a field, which Escape leaves. */
export function listenToKeys(): void {
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const target = event.target as HTMLElement
    const isField = target.matches?.('input, textarea, select') ?? false
    if (isField) return event.key === 'Escape' ? target.blur() : undefined
    const action = parts
      .toReversed()
      .flatMap(({ current }) => current)
      .find(([key]) => key === event.key)?.[1]
    if (!action) return
    event.preventDefault()
    action()
  })
}
