import { type AgentStream, useAgentStream } from 'agentwire/react'
import { agents } from './client.ts'

/** The state of every agent in this app. */
export interface ChatState extends Record<string, unknown> {
  messages: unknown[]
}

export type Chat = AgentStream<ChatState>

export const useChat = (options: Parameters<typeof useAgentStream>[1]) =>
  useAgentStream<ChatState>(agents, options)
