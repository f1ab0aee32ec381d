import { useRef, useState } from 'react'
import { AGENTS } from '../../lib/agents.ts'
import { type Turn, turnsOf } from '../../lib/turns.ts'
import { type ChatState, useChat } from '../../lib/use-chat.ts'
import { Composer } from '../composer/composer.tsx'
import { TurnView } from './turn-view.tsx'
import { Welcome } from './welcome.tsx'

interface ConversationProps {
  readonly threadId: string | undefined
  readonly onThreadId: (threadId: string) => void
}

/** One thread: its turns, and where the next message is written. */
export function Conversation({ threadId, onThreadId }: ConversationProps) {
  const [agentId, setAgentId] = useState(AGENTS[0]!.id)
  // A thread that exists has an agent. Only a new one is asked for.
  const isNew = useRef(threadId === undefined).current
  const chat = useChat({ threadId, assistantId: isNew ? agentId : undefined, onThreadId })
  const turns = useRef<readonly Turn[]>([])
  turns.current = turnsOf(chat.messages, turns.current)

  const send = (content: string): void => {
    const input: Partial<ChatState> = { messages: [{ type: 'human', content }] }
    void chat.submit(input, { multitaskStrategy: 'enqueue' })
  }
  const isEmpty = turns.current.length === 0 && !chat.isThreadLoading
  return (
    <>
      <div role="log" aria-label="Conversation" className="min-h-0 flex-1 overflow-y-auto">
        <div className="mx-auto flex max-w-3xl flex-col gap-6 px-4 pt-14 pb-6">
          {isEmpty && <Welcome agentId={agentId} onAgent={setAgentId} onPrompt={send} />}
          {turns.current.map((turn) => (
            <TurnView key={turn.id} turn={turn} />
          ))}
        </div>
      </div>
      <Composer onSend={send} onStop={() => void chat.stop()} isRunning={chat.isLoading} />
    </>
  )
}
