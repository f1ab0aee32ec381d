import { type ReactNode, useSyncExternalStore } from 'react'

const never = () => () => {}

/** The server's HTML is there before the code of the page is. Until then these controls are disabled: what is pressed would be lost. */
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
