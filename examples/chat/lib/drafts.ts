import { perThread } from './per-thread.ts'

/** A longer text is not kept: the storage of a tab has a limit. */
const MOST_LENGTH = 20_000
/** Stands for a chat without a thread. */
const NEW = 'new'

const drafts = perThread<string>('drafts')

/** The unsent text of a chat. */
export const draftOf = (threadId: string | undefined): string => drafts.get(threadId ?? NEW) ?? ''

export const keepDraft = (threadId: string | undefined, text: string): void =>
  drafts.set(threadId ?? NEW, text === '' || text.length > MOST_LENGTH ? undefined : text)
