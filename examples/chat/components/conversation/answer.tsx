import type { BaseMessage } from '@langchain/core/messages'
import { Suspense } from 'react'
import { later } from '../../lib/later.ts'
import { mediaOf } from '../../lib/media.ts'
import { reasoningOf, textOf, thinkingMsOf } from '../../lib/messages.ts'
import { type Activity, toolCallsOf } from '../../lib/tool-calls.ts'
import { MediaList } from '../attachments/media-view.tsx'
import { Reasoning } from '../tools/reasoning.tsx'
import { ToolCallView } from '../tools/tool-call.tsx'
import { Subagent } from './chat-context.tsx'

const Markdown = later(async () => (await import('../markdown/markdown.tsx')).Markdown)

interface AnswerMessageProps {
  readonly message: BaseMessage
  /** All messages of the answer. They include the results of this message's tool calls. */
  readonly answer: readonly BaseMessage[]
  readonly activity: Activity
}

/** One message of the agent: its reasoning, text, attachments and tool calls. */
export function AnswerMessage({ message, answer, activity }: AnswerMessageProps) {
  const text = textOf(message)
  const reasoning = reasoningOf(message)
  const calls = toolCallsOf(message, answer, activity)
  // A card below the conversation shows what waits for the user.
  const tools = calls.filter(({ name, status }) => name !== 'task' && status !== 'waiting')
  const tasks = calls.filter(({ name }) => name === 'task')
  const isGrowing = activity === 'running' && message === answer.at(-1)
  return (
    <>
      {reasoning !== '' && (
        <Reasoning text={reasoning} isGrowing={isGrowing && text === ''} ms={thinkingMsOf(message)} />
      )}
      {text !== '' && (
        <Suspense fallback={<p className="wrap-anywhere whitespace-pre-wrap">{text}</p>}>
          <Markdown text={text} isGrowing={isGrowing} />
        </Suspense>
      )}
      <MediaList media={mediaOf(message)} />
      {tools.map((call) => (
        <ToolCallView key={call.id} call={call} />
      ))}
      {tasks.length > 0 && (
        <div className="grid gap-2 sm:grid-cols-2">
          {tasks.map(({ id }) => (
            <Subagent key={id} toolCallId={id} />
          ))}
        </div>
      )}
    </>
  )
}
