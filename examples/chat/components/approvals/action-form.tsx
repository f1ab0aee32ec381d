import { type FormEvent, useState } from 'react'
import { type ArgumentField, argumentsOf, faultOf, fieldsOf } from '../../lib/argument-fields.ts'
import type { Action, Decision } from '../../lib/questions.ts'
import { Button } from '../ui/button.tsx'
import { ArgumentInput } from './argument-input.tsx'

interface ActionFormProps {
  readonly action: Action
  readonly onDecide: (decision: Decision) => void
  readonly onCancel: () => void
}

/** The arguments of a call as a form, with a field for each by type. */
export function ActionForm({ action: { name, args, allowed }, onDecide, onCancel }: ActionFormProps) {
  const [fields, setFields] = useState(() => fieldsOf(args))
  const [showsFaults, setShowsFaults] = useState(false)
  const change = (changed: ArgumentField): void =>
    setFields(fields.map((field) => (field.name === changed.name ? changed : field)))

  const approve = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const wrong = fields.find((field) => faultOf(field) !== undefined)
    if (wrong) {
      setShowsFaults(true)
      event.currentTarget.querySelector<HTMLElement>(`[name="${CSS.escape(wrong.name)}"]`)?.focus()
      return
    }
    const edited = argumentsOf(fields)
    const isSame = JSON.stringify(edited) === JSON.stringify(args) && allowed.includes('approve')
    onDecide(isSame ? { type: 'approve' } : { type: 'edit', editedAction: { name, args: edited } })
  }
  return (
    <form noValidate className="flex flex-col gap-3" onSubmit={approve}>
      {fields.map((field, at) => (
        <ArgumentInput
          key={field.name}
          field={field}
          isFirst={at === 0}
          fault={showsFaults ? faultOf(field) : undefined}
          onChange={change}
        />
      ))}
      <div className="flex flex-wrap gap-2">
        <Button kind="primary" type="submit">
          Approve with these
        </Button>
        <Button onClick={onCancel}>Cancel</Button>
      </div>
    </form>
  )
}
