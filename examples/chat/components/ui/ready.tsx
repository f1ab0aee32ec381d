import { type ReactNode, useSyncExternalStore } from 'react'

const never = () => () => {}

/**
 * The server's HTML arrives before the page's code. Until then these controls are disabled, because a press
 * would be lost.
 */
export function Ready({ children }: { readonly children: ReactNode }) {
  const isReady = useSyncExternalStore(
    never,
    () => true,
    () => false,
  )
  return (
    <fieldset disabled={!isReady} className="contents">
      {children}
    </fieldset>
  )
}
