/**
 * On a server, these hooks return a page's initial state and do not call React. In Next, packages that Node
 * loads itself get another copy of React than the page's, and its hooks fail there. This way, an app needs no
 * configuration for these hooks.
 */
export const isServer = typeof document === 'undefined'

/** 128 random bits as text. `crypto.randomUUID` does not exist on pages without https. */
export const uniqueId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  )
