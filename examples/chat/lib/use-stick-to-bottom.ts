import { type RefObject, useCallback, useEffect, useRef, useState } from 'react'

/** How far from the end still counts as the end, in pixels. */
const NEAR = 48

interface StickToBottom {
  /** The element that scrolls, and the element in it that grows. */
  readonly scroller: RefObject<HTMLDivElement | null>
  readonly content: RefObject<HTMLDivElement | null>
  readonly isAtBottom: boolean
  readonly scrollToBottom: () => void
}

/** Keeps the end in view while the content grows, until the user scrolls up. */
export function useStickToBottom(): StickToBottom {
  const scroller = useRef<HTMLDivElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const sticks = useRef(true)
  const [isAtBottom, setIsAtBottom] = useState(true)

  const setSticks = useCallback((isStuck: boolean) => {
    sticks.current = isStuck
    // The browser's own anchor would move the position while heights above it change, which would look like the user's doing.
    scroller.current?.style.setProperty('overflow-anchor', isStuck ? 'none' : 'auto')
  }, [])
  const scrollToBottom = useCallback(() => {
    setSticks(true)
    scroller.current?.scrollTo({ top: scroller.current.scrollHeight })
  }, [setSticks])

  useEffect(() => {
    const { current: outer } = scroller
    const { current: inner } = content
    if (outer === null || inner === null) return
    setSticks(true)
    let lastTop = outer.scrollTop
    const onScroll = (): void => {
      const isNear = outer.scrollHeight - outer.scrollTop - outer.clientHeight < NEAR
      // Only a way up is the user's: a page that grows leaves the position as it is.
      if (isNear) setSticks(true)
      else if (outer.scrollTop < lastTop) setSticks(false)
      lastTop = outer.scrollTop
      setIsAtBottom(isNear)
    }
    const observer = new ResizeObserver(() => {
      if (sticks.current) outer.scrollTop = outer.scrollHeight
    })
    observer.observe(inner)
    observer.observe(outer)
    outer.addEventListener('scroll', onScroll, { passive: true })
    return () => {
      observer.disconnect()
      outer.removeEventListener('scroll', onScroll)
    }
  }, [setSticks])
  return { scroller, content, isAtBottom, scrollToBottom }
}
