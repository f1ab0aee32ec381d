/** @jsxImportSource preact */
import { useState } from 'preact/hooks'
import type { Answers, InterruptRow, ThreadDetail } from '../../wire.ts'
import { answer } from '../data/runs.ts'
import { fieldOf, isObject, parseJson, textOf } from '../model/json.ts'
import { JsonTree } from './json-tree.tsx'
import { Action, Empty, Id, JsonField } from './parts.tsx'

interface InterruptsViewProps {
  readonly thread: ThreadDetail
  readonly onDone: () => void
}

export function InterruptsView({ thread, onDone }: InterruptsViewProps) {
  const { open_interrupts: open } = thread
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({})
  const textOf = (interrupt: InterruptRow) => texts[interrupt.interrupt_id] ?? firstAnswer(interrupt)
  const send = async (answers: Answers['answers']) => {
    await answer(thread, answers)
    onDone()
  }
  if (open.length === 0) return <Empty>Nothing waits for an answer.</Empty>
  const answers = open.map((interrupt) => [interrupt.interrupt_id, parseJson(textOf(interrupt))] as const)
  const areGood = answers.every(([, parsed]) => 'value' in parsed)
  return (
    <div class="interrupts">
      {open.map((interrupt) => (
        <Question
          key={interrupt.interrupt_id}
          interrupt={interrupt}
          text={textOf(interrupt)}
          onText={(text) => setTexts({ ...texts, [interrupt.interrupt_id]: text })}
          onAnswer={(value) => send({ [interrupt.interrupt_id]: value })}
        />
      ))}
      {open.length > 1 && areGood && (
        <Action
          kind="primary"
          run={() =>
            send(Object.fromEntries(answers.map(([id, parsed]) => [id, 'value' in parsed && parsed.value])))
          }
        >
          Answer all {open.length} together
        </Action>
      )}
    </div>
  )
}

const pretty = (value: unknown): string => JSON.stringify(value, undefined, 2)

/** What the editor begins with: the most likely answer. */
function firstAnswer({ value }: InterruptRow): string {
  const actions = actionsOf(value)
  return actions ? pretty(approveAll(actions)) : 'true'
}

interface QuestionProps {
  readonly interrupt: InterruptRow
  readonly text: string
  readonly onText: (text: string) => void
  readonly onAnswer: (value: unknown) => Promise<void>
}

function Question({ interrupt, text, onText, onAnswer }: QuestionProps) {
  const { interrupt_id, value, namespace } = interrupt
  const actions = actionsOf(value)
  return (
    <section class="question stack" aria-label="Interrupt">
      <header class="line wrap">
        <h2>{actions ? `Approve ${actions.map(({ name }) => name).join(', ')}?` : 'The agent asks'}</h2>
        <Id id={interrupt_id} />
        {namespace.length > 0 && <span class="dim">{namespace.join(' › ')}</span>}
      </header>
      {typeof value === 'string' ? (
        <p class="text">{value}</p>
      ) : (
        <JsonTree value={actions && actions.length > 0 ? actions : value} open={4} />
      )}
      {actions && <Shortcuts actions={actions} value={value} onText={onText} onAnswer={onAnswer} />}
      <JsonField
        label="Answer, as JSON"
        rows={Math.min(14, text.split('\n').length + 1)}
        text={text}
        onText={onText}
        otherwise={<Action run={() => onAnswer(text)}>Send as text</Action>}
      >
        {(value) => (
          <Action kind={actions ? '' : 'primary'} run={() => onAnswer(value)}>
            Send this answer
          </Action>
        )}
      </JsonField>
    </section>
  )
}

interface ShortcutsProps extends Pick<QuestionProps, 'onText' | 'onAnswer'> {
  readonly actions: readonly ActionRequest[]
  readonly value: unknown
}

function Shortcuts({ actions, value, onText, onAnswer }: ShortcutsProps) {
  const [reason, setReason] = useState('')
  return (
    <div class="form row-form line wrap">
      <Action kind="primary" run={() => onAnswer(approveAll(actions))}>
        Approve
      </Action>
      <button type="button" onClick={() => onText(pretty(editAll(actions, value)))}>
        Edit the arguments
      </button>
      <input
        aria-label="Reason for rejecting"
        placeholder="Why? The agent reads this."
        value={reason}
        onInput={({ currentTarget }) => setReason(currentTarget.value)}
      />
      <Action kind="danger" run={() => onAnswer(rejectAll(actions, reason))}>
        Reject
      </Action>
    </div>
  )
}

/** One call that waits for approval. */
interface ActionRequest {
  readonly name: string
  readonly args: unknown
}

/**
 * The calls that an interrupt of LangChain's human-in-the-loop middleware asks about, or undefined for any other.
 * JavaScript spells them `actionRequests`, Python `action_requests`.
 */
function actionsOf(value: unknown): readonly ActionRequest[] | undefined {
  const requests = fieldOf(value, 'actionRequests') ?? fieldOf(value, 'action_requests')
  if (!Array.isArray(requests) || requests.length === 0 || !requests.every(isObject)) return undefined
  return requests.map((request) => ({
    name: textOf(request.name) ?? textOf(request.action) ?? 'action',
    args: request.args ?? request.arguments ?? {},
  }))
}

/** The answer that lets every call go on. */
const approveAll = (actions: readonly ActionRequest[]) => ({
  decisions: actions.map(() => ({ type: 'approve' })),
})

/** The answer that rejects every call. */
const rejectAll = (actions: readonly ActionRequest[], message: string) => ({
  decisions: actions.map(() => ({ type: 'reject', ...(message !== '' && { message }) })),
})

/** The answer with other arguments, to be changed by hand. Its key is spelled as in the question. */
const editAll = (actions: readonly ActionRequest[], value: unknown) => ({
  decisions: actions.map(({ name, args }) => ({
    type: 'edit',
    [fieldOf(value, 'actionRequests') ? 'editedAction' : 'edited_action']: { name, args },
  })),
})
