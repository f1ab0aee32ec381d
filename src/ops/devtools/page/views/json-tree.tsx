/** @jsxImportSource preact */
import { useState } from 'preact/hooks'
import { type Change, pathText } from '../model/diff.ts'
import { brief, isObject } from '../model/json.ts'
import { Empty } from './parts.tsx'

/** How many items of a list, or fields of an object, are shown before one asks for more. */
const STEP = 100
/** Longer texts are cut until one asks for the rest. */
const TEXT = 2_000

/** A value, opened as deep as `open` says, and deeper by hand. What is closed is not drawn. */
export function JsonTree({ value, open = 2 }: { readonly value: unknown; readonly open?: number }) {
  return (
    <div class="json">
      <Node value={value} open={open} />
    </div>
  )
}

interface NodeProps {
  readonly value: unknown
  readonly open: number
  readonly name?: string
}

function Node({ value, open, name }: NodeProps) {
  const [isOpen, setOpen] = useState(open > 0)
  const [shown, setShown] = useState(STEP)
  const label = name === undefined ? null : <span class="key">{name}: </span>
  if (!isObject(value) && !Array.isArray(value))
    return (
      <div class="leaf">
        {label}
        <Scalar value={value} />
      </div>
    )
  const fields = Object.entries(value)
  const [start, end] = Array.isArray(value) ? '[]' : '{}'
  if (fields.length === 0)
    return (
      <div class="leaf">
        {label}
        {start}
        {end}
      </div>
    )
  return (
    <div>
      <button type="button" class="fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? '▾' : '▸'} {label}
        {start}
        {!isOpen && <span class="dim">{brief(value, 90).slice(1, -1)}</span>}
        {!isOpen && end}
        <span class="count dim">{fields.length}</span>
      </button>
      {isOpen && (
        <div class="inside">
          {fields.slice(0, shown).map(([key, item]) => (
            <Node key={key} name={key} value={item} open={open - 1} />
          ))}
          {fields.length > shown && (
            <button type="button" class="quiet" onClick={() => setShown(shown + STEP)}>
              {fields.length - shown} more
            </button>
          )}
        </div>
      )}
    </div>
  )
}

function Scalar({ value }: { readonly value: unknown }) {
  const [whole, setWhole] = useState(false)
  if (typeof value !== 'string')
    return <span class={value === null ? 'null' : typeof value}>{String(value)}</span>
  const isLong = value.length > TEXT && !whole
  return (
    <span class="string">
      "{isLong ? value.slice(0, TEXT) : value}"
      {isLong && (
        <button type="button" class="quiet" onClick={() => setWhole(true)}>
          {value.length - TEXT} more characters
        </button>
      )}
    </span>
  )
}

const SIGNS: Readonly<Record<Change['kind'], string>> = { added: '+', removed: '−', changed: '~' }

interface ChangesProps {
  readonly changes: readonly Change[]
  readonly label: string
  /** The text if there are no changes. */
  readonly none: string
}

/** The differences between two states. */
export function Changes({ changes, label, none }: ChangesProps) {
  if (changes.length === 0) return <Empty>{none}</Empty>
  return (
    <ul class="changes" aria-label={label}>
      {changes.map((change) => (
        <li key={pathText(change.path)} class={change.kind}>
          <code class="path">
            {SIGNS[change.kind]} {pathText(change.path)} <span class="hidden">{change.kind}</span>
          </code>
          {change.kind !== 'added' && (
            <div class="before">
              <JsonTree value={change.before} open={1} />
            </div>
          )}
          {change.kind !== 'removed' && (
            <div class="after">
              <JsonTree value={change.after} open={2} />
            </div>
          )}
        </li>
      ))}
    </ul>
  )
}
