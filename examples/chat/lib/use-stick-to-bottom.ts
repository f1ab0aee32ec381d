import { type RefObject, useCallback, useEffect, useRef, useState } from 'react'
import { positions } from './positions.ts'

/** How close to the end counts as the end, in pixels. */
const NEAR = 48
/** Events of a user who scrolls. */
const BY_HAND = ['wheel', 'touchmove', 'keydown', 'pointerdown'] as const

interface StickToBottom {
  /** The element that scrolls, and its growing child. */
  readonly scroller: RefObject<HTMLDivElement | null>
  readonly content: RefObject<HTMLDivElement | null>
  readonly isAtBottom: boolean
  readonly scrollToBottom: () => void
}

/**
 * Keeps the end in view while the content grows, until the user scrolls up. A thread that was left further up
 * is shown at that position again, as soon as enough of it is loaded.
 */
export function useStickToBottom(threadId: string | undefined): StickToBottom {
  const scroller = useRef<HTMLDivElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const sticks = useRef(true)
  const thread = useRef(threadId)
  thread.current = threadId
  /** Where the thread was left, until it is shown there. */
  const wanted = useRef<number>(undefined)
  const [isAtBottom, setIsAtBottom] = useState(true)

  const setSticks = useCallback((isStuck: boolean) => {
    sticks.current = isStuck
    // The browser's scroll anchoring would move the position when heights above it change, which would look
    // like a scroll by the user.
    scroller.current?.style.setProperty('overflow-anchor', isStuck ? 'none' : 'auto')
  }, [])
  const scrollToBottom = useCallback(() => {
    wanted.current = undefined
    setSticks(true)
    scroller.current?.scrollTo({ top: scroller.current.scrollHeight })
  }, [setSticks])

  useEffect(() => {
    const { current: outer } = scroller
    const { current: inner } = content
    if (outer === null || inner === null) return
    setSticks(true)
    wanted.current = thread.current === undefined ? undefined : positions.get(thread.current)
    let lastTop = outer.scrollTop
    const onScroll = (): void => {
      const isNear = outer.scrollHeight - outer.scrollTop - outer.clientHeight < NEAR
      // Only the user scrolls up: a growing page keeps the position.
      if (isNear) setSticks(true)
      else if (outer.scrollTop < lastTop) setSticks(false)
      lastTop = outer.scrollTop
      setIsAtBottom(isNear)
      const isShown = wanted.current === undefined && outer.scrollHeight > outer.clientHeight
      if (thread.current !== undefined && isShown)
        positions.set(thread.current, isNear ? undefined : outer.scrollTop)
    }
    const observer = new ResizeObserver(() => {
      const { current: top } = wanted
      if (top !== undefined) {
        if (outer.scrollHeight - outer.clientHeight < top) return
        wanted.current = undefined
        setSticks(false)
        outer.scrollTop = top
      } else if (sticks.current && inner.offsetHeight > 0) outer.scrollTop = outer.scrollHeight
    })
    const take = (): void => {
      wanted.current = undefined
    }
    observer.observe(inner)
    observer.observe(outer)
    outer.addEventListener('scroll', onScroll, { passive: true })
    for (const name of BY_HAND) outer.addEventListener(name, take, { passive: true })
    return () => {
      observer.disconnect()
      outer.removeEventListener('scroll', onScroll)
      for (const name of BY_HAND) outer.removeEventListener(name, take)
    }
  }, [setSticks])
  return { scroller, content, isAtBottom, scrollToBottom }
}
