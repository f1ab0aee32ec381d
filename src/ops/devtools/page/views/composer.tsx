/** @jsxImportSource preact */
import type { TargetedKeyboardEvent } from 'preact'
import { useState } from 'preact/hooks'
import type { GraphAnswer, InputAnswer, NewRun, ServerInfo } from '../../wire.ts'
import { go, usePolled } from '../data/hooks.ts'
import { useBreakpoints } from '../data/local-settings.ts'
import { startRun } from '../data/runs.ts'
import { stoppingNodes } from '../model/breakpoints.ts'
import { type Field, type FormInput, fieldsOf, inputOf, messageInput, takesMessages } from '../model/form.ts'
import { isObject, parseJson } from '../model/json.ts'
import { Breakpoints } from './breakpoints.tsx'
import { InputForm } from './input-form.tsx'
import { BackLink, Problem, Select, useAction } from './parts.tsx'

/** The names of the agents, and what they take, seldom change. */
const POLL_MS = 60_000

const MODES = { message: 'Message', form: 'Form', json: 'JSON input' } as const
type Mode = keyof typeof MODES

interface ComposerProps {
  readonly threadId: string
  /** The agent of the thread, where it has one: no other can run on it. */
  readonly assistantId: string | null
  readonly onStarted: () => void
}

/** Sends a message, or starts a run with any input and config. */
export function Composer({ threadId, assistantId, onStarted }: ComposerProps) {
  const { data: server } = usePolled<ServerInfo>('/server', POLL_MS)
  const [chosen, setChosen] = useState<string>()
  const agents = server?.agents ?? []
  const agent = assistantId ?? chosen ?? agents[0] ?? ''
  const { data: drawn } = usePolled<GraphAnswer>(pathOf(agent, 'graph'), POLL_MS)
  const [stops, toggleStop] = useBreakpoints(agent)
  const draft = useDraft(agent)
  const { modes, mode, choose, given, settings } = draft
  const problem = 'problem' in given ? given.problem : configProblem(settings)
  const isReady = 'value' in given && problem === undefined
  const {
    running,
    problem: refused,
    start,
  } = useAction(async () => {
    if (!('value' in given) || !('value' in settings)) return
    await startRun(
      { thread_id: threadId, assistant_id: agent },
      {
        ...(agent !== '' && { assistant_id: agent }),
        input: given.value,
        config: settings.value as NonNullable<NewRun['config']>,
      },
    )
    draft.setText('')
    onStarted()
  })
  const onSubmit = (event: Event) => {
    event.preventDefault()
    if (isReady && !running) void start()
  }
  return (
    <form class="composer stack" onSubmit={onSubmit}>
      <Fields draft={draft} />
      {problem !== undefined && <Problem>{problem}</Problem>}
      {refused !== '' && <Problem>{refused}</Problem>}
      <div class="line wrap">
        {assistantId === null && (
          <Select
            label="Agent"
            value={agent}
            options={agents.map((name) => [name, name])}
            onChange={setChosen}
          />
        )}
        {modes.length > 1 &&
          modes.map((one) => (
            <button key={one} type="button" aria-pressed={one === mode} onClick={() => choose(one)}>
              {MODES[one]}
            </button>
          ))}
        <button type="submit" class="primary" disabled={!isReady || running}>
          {mode === 'message' ? 'Send' : 'Start a run'}
        </button>
        {drawn?.graph && (
          <Breakpoints nodes={stoppingNodes(drawn.graph)} stops={stops} onToggle={toggleStop} />
        )}
      </div>
    </form>
  )
}

/** What is typed, in each of the ways to type it. The JSON begins as the message or the form. */
function useDraft(agent: string) {
  const { data: input } = usePolled<InputAnswer>(pathOf(agent, 'input'), POLL_MS)
  const [chosen, setMode] = useState<Mode>()
  const [draftMode, setDraftMode] = useState<Mode>()
  const [text, setText] = useState('')
  const [texts, setTexts] = useState<Readonly<Record<string, Readonly<Record<string, string>>>>>({})
  const [typed, setTyped] = useState<string>()
  const [config, setConfig] = useState('{}')
  const fields = fieldsOf(input?.schema)
  const modes = modesOf(input?.schema, fields)
  const mode = chosen && modes.includes(chosen) ? chosen : modes[0]!
  const ofAgent = texts[agent] ?? {}
  const draft: FormInput =
    fields && (draftMode ?? modes[0]) === 'form'
      ? inputOf(fields, ofAgent)
      : text === ''
        ? { missing: 'message' }
        : { value: messageInput(text) }
  const json = typed ?? JSON.stringify('value' in draft ? draft.value : {}, undefined, 2)
  return {
    modes,
    mode,
    choose(next: Mode): void {
      setMode(next)
      if (next !== 'json') setDraftMode(next)
    },
    given: mode === 'json' ? parseJson(json) : draft,
    settings: parseJson(config),
    fields,
    text,
    setText,
    texts: ofAgent,
    setField: (name: string, value: string) => setTexts({ ...texts, [agent]: { ...ofAgent, [name]: value } }),
    json,
    setTyped,
    config,
    setConfig,
  }
}

function Fields({ draft }: { readonly draft: ReturnType<typeof useDraft> }) {
  const { mode, fields } = draft
  if (mode === 'json')
    return (
      <div class="line fields">
        <JsonArea label="Input, as JSON" text={draft.json} onText={draft.setTyped} />
        <JsonArea label="Config, as JSON" text={draft.config} onText={draft.setConfig} />
      </div>
    )
  if (mode === 'form')
    return fields ? <InputForm fields={fields} texts={draft.texts} onText={draft.setField} /> : null
  return (
    <textarea
      class="message-field"
      rows={2}
      aria-label="Message"
      placeholder="Send a message. Shift + Enter starts a new line."
      value={draft.text}
      onInput={({ currentTarget }) => draft.setText(currentTarget.value)}
      onKeyDown={submitOnEnter}
    />
  )
}

const pathOf = (agent: string, what: 'input' | 'graph'): string | undefined =>
  agent === '' ? undefined : `/agents/${encodeURIComponent(agent)}/${what}`

function modesOf(schema: unknown, fields: readonly Field[] | undefined): readonly Mode[] {
  const modes: readonly (readonly [Mode, boolean])[] = [
    ['message', takesMessages(schema)],
    ['form', fields !== undefined],
    ['json', true],
  ]
  return modes.flatMap(([mode, has]) => (has ? [mode] : []))
}

function configProblem(settings: ReturnType<typeof parseJson>): string | undefined {
  if ('problem' in settings) return settings.problem
  return isObject(settings.value) ? undefined : 'The config is not an object.'
}

/** Enter does not send while it completes a word of an input method. */
function submitOnEnter(event: TargetedKeyboardEvent<HTMLTextAreaElement>): void {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
  event.preventDefault()
  event.currentTarget.form!.requestSubmit()
}

interface JsonAreaProps {
  readonly label: string
  readonly text: string
  readonly onText: (text: string) => void
}

const JsonArea = ({ label, text, onText }: JsonAreaProps) => (
  <label>
    {label}
    <textarea
      rows={4}
      spellcheck={false}
      value={text}
      onInput={({ currentTarget }) => onText(currentTarget.value)}
    />
  </label>
)

/** A thread that begins with its first message. */
export function NewThread() {
  const [threadId] = useState(() => crypto.randomUUID())
  return (
    <article class="thread stack" aria-label="New thread">
      <header class="line wrap">
        <BackLink />
        <h1>New thread</h1>
      </header>
      <div class="view stack">
        <Composer
          threadId={threadId}
          assistantId={null}
          onStarted={() => go('threads', threadId, 'conversation')}
        />
      </div>
    </article>
  )
}
