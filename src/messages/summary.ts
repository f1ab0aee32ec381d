import type { Message } from './message.ts'

/**
 * Whether a message is a summary that replaces earlier ones. The middleware of LangChain and deep agents
 * stores it as a message of the user, who did not write it.
 */
export const isSummary = ({ role, extras }: Message): boolean =>
  role === 'user' && extras?.lc_source === 'summarization'
