import { createContext, type ReactNode, useContext, useMemo } from 'react'
import type { Chat } from '../../lib/use-chat.ts'
import { SubagentCard } from '../subagents/subagent-card.tsx'

const ChatContext = createContext<Chat | undefined>(undefined)

/**
 * Gives subagent cards access to the chat. The context changes when a subagent changes, not for each token,
 * because React searches all turns for readers of a changed context.
 */
export function ChatProvider({ chat, children }: { readonly chat: Chat; readonly children: ReactNode }) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the chat is another object for each token.
  const renewed = useMemo(() => chat, [chat.subagents, chat.interrupts.length, chat.isLoading, chat.threadId])
  return <ChatContext value={renewed}>{children}</ChatContext>
}

export function Subagent({ toolCallId }: { readonly toolCallId: string }) {
  const chat = useContext(ChatContext)
  return chat && <SubagentCard chat={chat} toolCallId={toolCallId} />
}
