import { useId } from 'react'
import type { ArgumentField } from '../../lib/argument-fields.ts'
import { readableName } from '../../lib/tool-calls.ts'
import { FIELD } from '../ui/field.ts'

interface ArgumentInputProps {
  readonly field: ArgumentField
  readonly isFirst: boolean
  /** The error message of the field. */
  readonly fault: string | undefined
  readonly onChange: (field: ArgumentField) => void
}

/** One argument: text and JSON in a growing text area, a number in a single line, a boolean as a checkbox. */
export function ArgumentInput({ field, isFirst, fault, onChange }: ArgumentInputProps) {
  const { name, kind, text } = field
  const id = useId()
  const faultId = `${id}-fault`
  const shared = {
    id,
    name,
    // The user has just asked to edit here.
    autoFocus: isFirst,
    'aria-invalid': fault !== undefined,
    'aria-describedby': fault === undefined ? undefined : faultId,
  }
  const write = (text: string): void => onChange({ ...field, text })
  if (kind === 'boolean')
    return (
      <label className="flex items-center gap-2">
        <input
          type="checkbox"
          {...shared}
          checked={text === 'true'}
          onChange={({ target }) => write(String(target.checked))}
          className="size-4 accent-brand"
        />
        {readableName(name)}
      </label>
    )
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={id} className="text-faint">
        {readableName(name)}
      </label>
      {kind === 'number' ? (
        <input
          {...shared}
          inputMode="decimal"
          value={text}
          onChange={({ target }) => write(target.value)}
          className={FIELD}
        />
      ) : (
        <textarea
          {...shared}
          rows={1}
          spellCheck={kind === 'text'}
          value={text}
          onChange={({ target }) => write(target.value)}
          className={`field-sizing-content max-h-60 ${kind === 'json' ? 'font-mono' : ''} ${FIELD}`}
        />
      )}
      {fault !== undefined && (
        <span id={faultId} role="alert" className="text-bad">
          {fault}
        </span>
      )}
    </div>
  )
}
