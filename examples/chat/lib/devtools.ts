/**
 * The devtools show every thread. They exist in development and in the demo: `next.config.ts` decides when
 * the page is built.
 */
export const HAS_DEVTOOLS = process.env.DEVTOOLS === '1'

/** The URL of the devtools, or of a thread in them. */
export const devtoolsHref = (threadId?: string): string =>
  threadId === undefined ? '/devtools' : `/devtools#/threads/${encodeURIComponent(threadId)}`
