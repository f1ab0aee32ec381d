/** Focuses the message field. */
export const focusComposer = (): void =>
  document.querySelector<HTMLElement>('textarea[aria-label="Message"]')?.focus()

/** Presses the stop button, if there is one. */
export const stopRun = (): void => document.querySelector<HTMLElement>('button[aria-label="Stop"]')?.click()

/** The id of the header area for the open conversation's buttons. */
export const ACTIONS_ID = 'conversation-actions'

/** Whether a dialog or a menu is open. It then handles the keys. */
export const isCovered = (): boolean => document.querySelector('[role="dialog"], [role="menu"]') !== null

/** Whether a field is not the composer. Escape discards its text. */
export const isOtherField = (target: EventTarget | null): boolean =>
  target instanceof Element && target.matches('input, textarea:not([aria-label="Message"])')
