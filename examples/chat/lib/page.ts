/** Puts the cursor where the next message is written. */
export const focusComposer = (): void =>
  document.querySelector<HTMLElement>('textarea[aria-label="Message"]')?.focus()

/** Presses the button that stops a run, where there is one. */
export const stopRun = (): void => document.querySelector<HTMLElement>('button[aria-label="Stop"]')?.click()

/** The id of the place in the header for buttons of the open conversation. */
export const ACTIONS_ID = 'conversation-actions'

/** A dialog or a menu is open, which has the keys for itself. */
export const isCovered = (): boolean => document.querySelector('[role="dialog"], [role="menu"]') !== null

/** A field that is not the composer, where Escape gives up what is written. */
export const isOtherField = (target: EventTarget | null): boolean =>
  target instanceof Element && target.matches('input, textarea:not([aria-label="Message"])')
