import { type RefObject, useCallback, useEffect, useRef, useState } from 'react'
import { keepPosition, positionOf } from './positions.ts'

/** How far from the end still counts as the end, in pixels. */
const NEAR = 48
/** What moves a conversation by the user's hand. */
const BY_HAND = ['wheel', 'touchmove', 'keydown', 'pointerdown'] as const

interface StickToBottom {
  /** The element that scrolls, and the element in it that grows. */
  readonly scroller: RefObject<HTMLDivElement | null>
  readonly content: RefObject<HTMLDivElement | null>
  readonly isAtBottom: boolean
  readonly scrollToBottom: () => void
}

/**
 * Keeps the end in view while the content grows, until the user scrolls up. A thread that was left further up is shown there again, as soon as
 * that much of it is there.
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
    // The browser's own anchor would move the position while heights above it change, which would look like the user's doing.
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
    wanted.current = thread.current === undefined ? undefined : positionOf(thread.current)
    let lastTop = outer.scrollTop
    const onScroll = (): void => {
      const isNear = outer.scrollHeight - outer.scrollTop - outer.clientHeight < NEAR
      // Only a way up is the user's: a page that grows leaves the position as it is.
      if (isNear) setSticks(true)
      else if (outer.scrollTop < lastTop) setSticks(false)
      lastTop = outer.scrollTop
      setIsAtBottom(isNear)
      const isShown = wanted.current === undefined && outer.scrollHeight > outer.clientHeight
      if (thread.current !== undefined && isShown)
        keepPosition(thread.current, isNear ? undefined : outer.scrollTop)
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
