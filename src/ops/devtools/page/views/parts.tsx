/** @jsxImportSource preact */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { routeTo, toApiError } from '../data/hooks.ts'
import { parseJson } from '../model/json.ts'
import type { Span } from '../model/spans.ts'
import { bytesText, clockText, shortId } from '../model/text.ts'

const WORDS: Readonly<Record<string, string>> = {
  busy: 'running',
  idle: 'idle',
  success: 'done',
  completed: 'done',
}

/** A status, by colour and by word. */
export const Status = ({ status }: { readonly status: string }) => (
  <span class={`status small dim ${status}`}>{WORDS[status] ?? status}</span>
)

/** An id that is shortened for the eye, and copied whole. */
export function Id({ id }: { readonly id: string }) {
  const [copied, setCopied] = useState(false)
  const copy = () =>
    navigator.clipboard?.writeText(id).then(
      () => {
        setCopied(true)
        setTimeout(() => setCopied(false), 1_200)
      },
      () => {}, // The browser has told that it may not.
    )
  return (
    <button type="button" class="id" onClick={copy} title={`Copy ${id}`}>
      {copied ? 'copied' : shortId(id)}
    </button>
  )
}

export const Size = ({ bytes }: { readonly bytes: number }) => <span class="number">{bytesText(bytes)}</span>

export const Empty = ({ children }: { readonly children: ComponentChildren }) => (
  <p class="empty dim">{children}</p>
)

export const Problem = ({ children }: { readonly children: ComponentChildren }) => (
  <p class="problem" role="alert">
    {children}
  </p>
)

/** Why a run failed, and where the error is if the server hides it. */
export const RunProblem = ({ message }: { readonly message: string }) => (
  <Problem>
    {message}
    {message.includes('Error id:') &&
      ' The server’s output has the error with this id. To see errors here, set NODE_ENV=development or errorMessage: true.'}
  </Problem>
)

/** Does something that takes a while and may fail. */
export function useAction(run: () => Promise<unknown>) {
  const [running, setRunning] = useState(false)
  const [problem, setProblem] = useState('')
  const start = async () => {
    setRunning(true)
    setProblem('')
    try {
      await run()
    } catch (error) {
      setProblem(toApiError(error).message)
    }
    setRunning(false)
  }
  return { running, problem, start }
}

interface ActionProps {
  readonly children: ComponentChildren
  readonly run: () => Promise<unknown>
  readonly kind?: string
}

/** A button for an action. It says why the action failed. */
export function Action({ children, run, kind = '' }: ActionProps) {
  const { running, problem, start } = useAction(run)
  return (
    <>
      <button type="button" class={kind} disabled={running} onClick={start}>
        {children}
      </button>
      {problem !== '' && <Problem>{problem}</Problem>}
    </>
  )
}

/** Shown where the list of threads and what is opened do not fit next to each other. */
export const BackLink = () => (
  <a class="back" href={routeTo()} aria-label="Back to the threads">
    ‹
  </a>
)

interface SelectProps {
  readonly label: string
  readonly value: string
  readonly options: readonly (readonly [value: string, text: string])[]
  readonly onChange: (value: string) => void
}

export const Select = ({ label, value, options, onChange }: SelectProps) => (
  <select aria-label={label} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
    {options.map(([one, text]) => (
      <option key={one} value={one}>
        {text}
      </option>
    ))}
  </select>
)

interface TableProps<Row> {
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
  readonly columns: readonly (readonly [
    name: string,
    cell: (row: Row) => ComponentChildren,
    kind?: 'number',
  ])[]
}

export const Table = <Row,>({ rows, keyOf, columns }: TableProps<Row>) => (
  <div class="scroll">
    <table>
      <thead>
        <tr>
          {columns.map(([name]) => (
            <th key={name}>{name}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)}>
            {columns.map(([name, cell, kind]) => (
              <td key={name} class={kind}>
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

interface JsonFieldProps {
  readonly label: ComponentChildren
  readonly rows: number
  readonly text: string
  readonly onText: (text: string) => void
  /** What is there while the text is not JSON, below what is wrong with it. */
  readonly otherwise?: ComponentChildren
  /** What is there while the text is JSON. */
  readonly children: (value: unknown) => ComponentChildren
}

/** A field for JSON, with what is wrong with it. */
export function JsonField({ label, rows, text, onText, otherwise, children }: JsonFieldProps) {
  const parsed = parseJson(text)
  return (
    <>
      <label>
        {label}
        <textarea
          rows={rows}
          spellcheck={false}
          value={text}
          onInput={({ currentTarget }) => onText(currentTarget.value)}
        />
      </label>
      {'problem' in parsed ? (
        <>
          <Problem>{parsed.problem}</Problem>
          {otherwise}
        </>
      ) : (
        children(parsed.value)
      )}
    </>
  )
}

export const runOption = ({ id, startedAt, status }: Span) =>
  [id, `${clockText(startedAt)} ${status} ${shortId(id)}`] as const

interface MiddlewareToggleProps {
  /** The noun for what is counted, in the singular. */
  readonly what: 'step' | 'event' | 'node'
  readonly count: number
  readonly isOn: boolean
  readonly onToggle: () => void
}

/** Shows or hides middleware. It is hidden by default, because it outnumbers the other steps. */
export const MiddlewareToggle = ({ what, count, isOn, onToggle }: MiddlewareToggleProps) =>
  count === 0 ? null : (
    <button type="button" aria-pressed={isOn} onClick={onToggle} title={isOn ? 'Hide them' : 'Show them'}>
      {count.toLocaleString()} middleware {what}
      {count > 1 && 's'}
    </button>
  )
