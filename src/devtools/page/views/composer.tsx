/** @jsxImportSource preact */
import { useState } from 'preact/hooks'
import type { NewRun, ServerInfo, StartedRun } from '../../wire.ts'
import { ask, threadPath } from '../data/api.ts'
import { go, usePolled } from '../data/hooks.ts'
import { isObject, parseJson } from '../model/json.ts'
import { Action, BackLink, Problem, Select } from './parts.tsx'

/** The names of the agents seldom change. */
const POLL_MS = 60_000

interface ComposerProps {
  readonly threadId: string
  /** The agent of the thread, where it has one. */
  readonly assistantId: string | null
  readonly onStarted: () => void
}

/** Sends a message, or starts a run with any input and config. */
export function Composer({ threadId, assistantId, onStarted }: ComposerProps) {
  const { data: server } = usePolled<ServerInfo>('/server', POLL_MS)
  const [chosen, setChosen] = useState<string>()
  const [isJson, setJson] = useState(false)
  const [text, setText] = useState('')
  const [input, setInput] = useState('{}')
  const [config, setConfig] = useState('{}')
  const agents = server?.agents ?? []
  const agent = chosen ?? assistantId ?? agents[0] ?? ''
  const parsed = isJson ? parseJson(input) : { value: { messages: [{ role: 'user', content: text }] } }
  const settings = parseJson(config)
  const problem = problemOf(parsed, settings)
  const start = async () => {
    if (problem !== undefined || !('value' in parsed) || !('value' in settings)) throw new Error(problem)
    const body = {
      ...(agent !== '' && { assistant_id: agent }),
      input: parsed.value,
      config: settings.value as NonNullable<NewRun['config']>,
    } satisfies NewRun
    await ask<StartedRun>(`${threadPath(threadId)}/runs`, body)
    setText('')
    onStarted()
  }
  return (
    <div class="composer stack">
      {isJson ? (
        <div class="line fields">
          <label>
            Input, as JSON
            <textarea
              rows={4}
              spellcheck={false}
              value={input}
              onInput={({ currentTarget }) => setInput(currentTarget.value)}
            />
          </label>
          <label>
            Config, as JSON
            <textarea
              rows={4}
              spellcheck={false}
              value={config}
              onInput={({ currentTarget }) => setConfig(currentTarget.value)}
            />
          </label>
        </div>
      ) : (
        <textarea
          class="message-field"
          rows={2}
          aria-label="Message"
          placeholder="Send a message"
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      )}
      {problem !== undefined && <Problem>{problem}</Problem>}
      <div class="line wrap">
        <Select
          label="Agent"
          value={agent}
          options={[...new Set([...(assistantId ? [assistantId] : []), ...agents])].map((name) => [
            name,
            name,
          ])}
          onChange={setChosen}
        />
        <button type="button" aria-pressed={isJson} onClick={() => setJson(!isJson)}>
          JSON input
        </button>
        <Action kind="primary" run={start} isDisabled={problem !== undefined || (!isJson && text === '')}>
          {isJson ? 'Start a run' : 'Send'}
        </Action>
      </div>
    </div>
  )
}

function problemOf(...fields: readonly ReturnType<typeof parseJson>[]): string | undefined {
  for (const field of fields) if ('problem' in field) return field.problem
  const [, config] = fields
  if (config && 'value' in config && !isObject(config.value)) return 'The config is not an object.'
  return undefined
}

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
