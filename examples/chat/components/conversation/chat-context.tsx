import { createContext, type ReactNode, useContext, useMemo } from 'react'
import type { Chat } from '../../lib/use-chat.ts'
import { SubagentCard } from '../subagents/subagent-card.tsx'

const ChatContext = createContext<Chat | undefined>(undefined)

/**
 * Gives the cards of subagents the chat. It is renewed when a subagent changes, and not for each token: React searches all turns for the
 * readers of a context that is renewed.
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
