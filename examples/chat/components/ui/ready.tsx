import { type ReactNode, useSyncExternalStore } from 'react'

const never = () => () => {}

/** False in the server's HTML, and until the page's code has taken it over. */
export const useReady = (): boolean =>
  useSyncExternalStore(
    never,
    () => true,
    () => false,
  )

/**
 * The server's HTML arrives before the page's code. Until then these controls are disabled, because a press
 * would be lost.
 */
export function Ready({ children }: { readonly children: ReactNode }) {
  const isReady = useReady()
  return (
    <fieldset disabled={!isReady} className="contents">
      {children}
    </fieldset>
  )
}
