/** Puts the cursor where the next message is written. */
export const focusComposer = (): void =>
  document.querySelector<HTMLElement>('textarea[aria-label="Message"]')?.focus()

/** Presses the button that stops a run, where there is one. */
export const stopRun = (): void => document.querySelector<HTMLElement>('button[aria-label="Stop"]')?.click()

/** A dialog or menu, which has its own meaning of Escape. */
export const isCovered = (): boolean => document.querySelector('[role="dialog"], [role="menu"]') !== null
