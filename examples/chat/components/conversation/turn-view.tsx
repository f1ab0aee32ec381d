import { CircleSlash, RefreshCw, Shuffle } from 'lucide-react'
import { memo } from 'react'
import { AGENTS } from '../../lib/agents.ts'
import type { TurnHistory } from '../../lib/branches.ts'
import type { Content } from '../../lib/content.ts'
import { isStopped, textOf, usageOf } from '../../lib/messages.ts'
import type { Activity } from '../../lib/tool-calls.ts'
import type { Turn } from '../../lib/turns.ts'
import { inWords } from '../../lib/use-elapsed.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { IconButton } from '../ui/icon-button.tsx'
import { Menu } from '../ui/menu.tsx'
import { agentIcon } from './agent-icon.ts'
import { AnswerMessage } from './answer.tsx'
import { Question } from './question.tsx'

/** The actions on a turn. Pass the same object on every render. */
export interface TurnActions {
  /** Replaces the turn's message. */
  edit(turn: Turn, content: Content): void
  /** Sends the turn's message again. */
  regenerate(turn: Turn): void
  /** Sends the turn's message to another agent in a new chat, because a thread belongs to one agent. */
  askAnother(turn: Turn, agentId: string): void
  /** Shows the branch that ends with this checkpoint. */
  show(checkpointId: string): void
}

interface TurnViewProps {
  readonly turn: Turn
  readonly history: TurnHistory | undefined
  readonly activity: Activity
  /** A fork needs an idle agent. */
  readonly canChange: boolean
  readonly actions: TurnActions
}

/** A question and its answer. It only renders again if one of its messages has changed. */
export const TurnView = memo((props: TurnViewProps) => {
  const { turn, history, activity, canChange, actions } = props
  return (
    <article className="flex flex-col gap-4">
      {turn.question && (
        <Question
          message={turn.question}
          history={history}
          canChange={canChange}
          onEdit={(content) => actions.edit(turn, content)}
          onShow={actions.show}
        />
      )}
      {turn.answer.length > 0 && <h2 className="sr-only">Answer</h2>}
      {turn.answer.map(
        (message, at) =>
          message.type === 'ai' && (
            <AnswerMessage
              key={message.id ?? at}
              message={message}
              answer={turn.answer}
              activity={activity}
            />
          ),
      )}
      {activity === 'running' && (
        // In the place of the footer, so that nothing moves when the answer is complete.
        <p className="-mt-2 flex h-8 items-center gap-3 text-faint pointer-coarse:h-11">
          <span aria-hidden className="size-2.5 rounded-full bg-brand motion-safe:animate-pulse" />
          {turn.answer.every(({ type }) => type !== 'ai') && 'Thinking…'}
        </p>
      )}
      {isStopped(turn.answer) && (
        <p className="flex items-center gap-2 text-faint text-sm">
          <CircleSlash aria-hidden className="size-4" /> Stopped
        </p>
      )}
      <Footer {...props} />
    </article>
  )
})

/** The duration and usage of the answer, and its actions. */
function Footer({ turn, history, activity, canChange, actions }: TurnViewProps) {
  if (activity !== 'idle' || turn.question === undefined) return null
  const text = turn.answer
    .filter(({ type }) => type === 'ai')
    .map(textOf)
    .filter((words) => words !== '')
    .join('\n\n')
  const usage = usageOf(turn.answer)
  return (
    <footer className="-mt-2 flex items-center text-faint text-xs">
      {text !== '' && <CopyButton label="Copy answer" text={text} />}
      {canChange && (
        <>
          <IconButton
            icon={RefreshCw}
            label="Regenerate"
            size="small"
            onClick={() => actions.regenerate(turn)}
          />
          <Menu
            icon={Shuffle}
            label="Ask an agent in a new chat"
            size="small"
            heading="Ask in a new chat"
            items={AGENTS.map(({ id, title }) => ({
              icon: agentIcon(id),
              label: title,
              run: () => actions.askAnother(turn, id),
            }))}
          />
        </>
      )}
      <span className="ml-2 flex gap-3">
        {usage && (
          <span title={`${usage.input} tokens in, ${usage.output} tokens out`}>
            {usage.input + usage.output} tokens
          </span>
        )}
        {history?.ms !== undefined && turn.answer.length > 0 && !isStopped(turn.answer) && (
          <span>{inWords(history.ms)}</span>
        )}
      </span>
    </footer>
  )
}
