/** The headers in which UIs send the id of a chat. */
export const CHAT_HEADERS = ['x-openwebui-chat-id', 'x-conversation-id'] as const

/** The headers that name the thread of a chat. */
export const THREAD_HEADERS = ['x-thread-id', ...CHAT_HEADERS] as const
