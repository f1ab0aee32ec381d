import { useState } from 'react'
import { type Decision, rejection } from '../../lib/questions.ts'
import { Button } from '../ui/button.tsx'
import { FIELD } from '../ui/field.ts'

interface RejectFormProps {
  readonly onDecide: (decision: Decision) => void
  readonly onCancel: () => void
}

/** The reason for a rejection. The agent reads it. */
export function RejectForm({ onDecide, onCancel }: RejectFormProps) {
  const [reason, setReason] = useState('')
  return (
    <form
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault()
        onDecide(rejection(reason))
      }}
    >
      <label className="flex flex-col gap-1">
        <span className="text-faint">What the agent should know (you may leave it out)</span>
        <textarea
          // biome-ignore lint/a11y/noAutofocus: the user has just asked to write here.
          autoFocus
          rows={1}
          value={reason}
          onChange={({ target }) => setReason(target.value)}
          className={`field-sizing-content max-h-40 ${FIELD}`}
        />
      </label>
      <div className="flex gap-2">
        <Button kind="danger" type="submit">
          Reject
        </Button>
        <Button onClick={onCancel}>Cancel</Button>
      </div>
    </form>
  )
}
