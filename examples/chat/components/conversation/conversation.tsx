import { v7 } from '@langchain/core/utils/uuid'
import { STREAM_CONTROLLER } from '@langchain/react'
import type { FirstState } from 'agentwire/react'
import { ArrowDown } from 'lucide-react'
import { Suspense, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { AGENTS } from '../../lib/agents.ts'
import type { Content } from '../../lib/content.ts'
import { wordsOf } from '../../lib/errors.ts'
import { artifactsOf } from '../../lib/files.ts'
import { later } from '../../lib/later.ts'
import { spokenAnswer } from '../../lib/questions.ts'
import { type Turn, turnsOf } from '../../lib/turns.ts'
import { useAttachments } from '../../lib/use-attachments.ts'
import { type ChatState, useChat } from '../../lib/use-chat.ts'
import { useHistories } from '../../lib/use-histories.ts'
import { useStickToBottom } from '../../lib/use-stick-to-bottom.ts'
import { useTitle } from '../../lib/use-title.ts'
import { Approvals } from '../approvals/approvals.tsx'
import { DropZone } from '../attachments/drop-zone.tsx'
import { Composer } from '../composer/composer.tsx'
import { Queue } from '../composer/queue.tsx'
import { FilesButton } from '../files/files-button.tsx'
import { Status } from '../status/status.tsx'
import { IconButton } from '../ui/icon-button.tsx'
import { Ready, useReady } from '../ui/ready.tsx'
import { useToast } from '../ui/toasts.tsx'
import { Announcement } from './announcement.tsx'
import { ChatProvider } from './chat-context.tsx'
import type { TurnActions } from './turn-view.tsx'
import { Turns } from './turns.tsx'
import { Welcome } from './welcome.tsx'

const FilesPanel = later(async () => (await import('../files/files-panel.tsx')).FilesPanel)

interface ConversationProps {
  readonly threadId: string | undefined
  readonly onThreadId: (threadId: string) => void
  /** The first message of a new chat. */
  readonly start: Start | undefined
  /** Starts a new chat with a message for an agent. */
  readonly onAsk: (start: Start) => void
  /** What the server has read of the thread. */
  readonly firstState: FirstState | undefined
}

export interface Start {
  readonly agentId: string
  readonly message: Content
}

/** One thread: its turns and the message field. */
export function Conversation({ threadId, onThreadId, start, onAsk, firstState }: ConversationProps) {
  const [agentId, setAgentId] = useState(start?.agentId ?? AGENTS[0]!.id)
  // An existing thread has an agent. Only a new one needs a choice.
  const isNew = useRef(threadId === undefined).current
  const {
    stream: chat,
    isRunning,
    isAsking,
    stop,
    answer,
  } = useChat({
    threadId,
    assistantId: isNew ? agentId : undefined,
    onThreadId,
    firstState,
  })
  const turns = useRef<readonly Turn[]>([])
  turns.current = turnsOf(chat.messages, turns.current)
  const { histories, historyOf, show } = useHistories(chat, turns.current)
  const attachments = useAttachments()
  const isReady = useReady()
  const { scroller, content, isAtBottom, scrollToBottom } = useStickToBottom(threadId)
  // The end stays in view when the column is not reversed any more.
  useLayoutEffect(() => {
    if (isReady) scroller.current?.scrollTo({ top: scroller.current.scrollHeight })
  }, [isReady, scroller])
  const [showsFiles, setShowsFiles] = useState(false)
  useTitle(chat, turns.current)
  const toast = useToast()
  /** Repeats the last request: sends the last message, or reads the thread if there is none. */
  const again = useRef<() => void>(() => location.reload())

  const send = (message: Content, forkFrom?: string): void => {
    // With an id, so that resending it does not create a second message.
    const input = { messages: [{ type: 'human', id: v7(), content: message }] } as Partial<ChatState>
    again.current = async () => {
      scrollToBottom()
      // Reading the thread would remove a message that was sent before.
      await chat[STREAM_CONTROLLER].hydrationPromise.catch(() => {})
      await chat.submit(input, forkFrom === undefined ? { multitaskStrategy: 'enqueue' } : { forkFrom })
    }
    void again.current()
  }
  const sayError = (error: unknown): void => toast({ text: wordsOf(error) })
  const latest = useRef({ send, historyOf, show, sayError, onAsk })
  latest.current = { send, historyOf, show, sayError, onAsk }
  const actions = useMemo((): TurnActions => {
    const sayError = (error: unknown): void => latest.current.sayError(error)
    const edit = (turn: Turn, message: Content): void => {
      latest.current.historyOf(turn).then(({ forkFrom }) => latest.current.send(message, forkFrom), sayError)
    }
    return {
      edit,
      regenerate: (turn) => turn.question && edit(turn, turn.question.content as Content),
      askAnother: ({ question }, agentId) =>
        question && latest.current.onAsk({ agentId, message: question.content as Content }),
      show: (checkpointId) => void latest.current.show(checkpointId).catch(sayError),
    }
  }, [])

  const isStarted = useRef(start === undefined)
  useEffect(() => {
    if (isStarted.current) return
    isStarted.current = true
    if (start) latest.current.send(start.message)
  }, [start])

  const isWaiting = chat.interrupts.length > 0
  const activity = isAsking || (isWaiting && !isRunning) ? 'waiting' : isRunning ? 'running' : 'idle'
  /** Sends what was written: an answer while the agent waits for one, otherwise a message. */
  const write = (message: Content): boolean => {
    if (!isWaiting) send(message)
    else {
      const responses = typeof message === 'string' ? spokenAnswer(chat.interrupts, message) : undefined
      if (responses === undefined) {
        toast({ text: 'Answer what the agent asks above first.' })
        return false
      }
      void answer(responses).catch(sayError)
    }
    return true
  }
  const artifacts = artifactsOf(chat.values.files, chat.messages)
  // A thread that could not be read is not empty.
  const isEmpty = turns.current.length === 0 && !chat.isThreadLoading && (isNew || chat.error === undefined)
  return (
    <DropZone onFiles={(files) => void attachments.add(files)}>
      <div className="relative flex min-h-0 min-w-0 flex-1 flex-col">
        <div
          ref={scroller}
          role="log"
          aria-label="Conversation"
          aria-live="off"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be within reach of the keyboard.
          tabIndex={0}
          // Without code, the browser shows the end of a reversed column.
          className={`min-h-0 flex-1 overflow-y-auto outline-none ${isReady || isEmpty ? '' : 'flex flex-col-reverse'}`}
        >
          {isEmpty && <Welcome agentId={agentId} onAgent={setAgentId} onPrompt={send} />}
          <div ref={content} className="mx-auto mb-auto w-full max-w-3xl px-4 py-6 empty:hidden">
            {turns.current.length > 0 && (
              <Ready>
                <ChatProvider chat={chat}>
                  <Turns turns={turns.current} histories={histories} activity={activity} actions={actions} />
                </ChatProvider>
              </Ready>
            )}
            {isWaiting && (
              // While the thread is read again, the questions are only hidden, because what the user has
              // typed into them would be lost.
              <div hidden={!isAsking} className="-mt-2">
                <Approvals interrupts={chat.interrupts} onAnswer={answer} />
              </div>
            )}
          </div>
        </div>
        <Announcement activity={activity} />
        {artifacts.length > 0 && (
          <FilesButton
            count={artifacts.length}
            isOpen={showsFiles}
            onToggle={() => setShowsFiles(!showsFiles)}
          />
        )}
        {!isAtBottom && !isEmpty && (
          <div className="relative mx-auto h-0">
            <IconButton
              icon={ArrowDown}
              label="Scroll to the end"
              kind="plain"
              className="-top-12 -translate-x-1/2 absolute rounded-full! shadow-md"
              onClick={scrollToBottom}
            />
          </div>
        )}
        <Status chat={chat} onAgain={() => again.current()} />
        <Queue chat={chat} />
        <Composer
          isNew={isNew}
          threadId={threadId}
          isRunning={isRunning}
          isAsked={isWaiting}
          attachments={attachments}
          onSend={write}
          onStop={() => void stop().catch(sayError)}
        />
      </div>
      {showsFiles && (
        <Suspense>
          <FilesPanel artifacts={artifacts} onClose={() => setShowsFiles(false)} />
        </Suspense>
      )}
    </DropZone>
  )
}
