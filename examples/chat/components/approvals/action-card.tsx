import { useState } from 'react'
import type { Arguments } from '../../lib/argument-fields.ts'
import type { Action, Decision } from '../../lib/questions.ts'
import { readableName } from '../../lib/tool-calls.ts'
import { Value } from '../tools/value.tsx'
import { Button } from '../ui/button.tsx'
import { ActionForm } from './action-form.tsx'
import { Card, type CardProps } from './card.tsx'
import { RejectForm } from './reject-form.tsx'

const OUTCOMES = { approve: 'Approved', edit: 'Approved with changes', reject: 'Rejected' }

interface ActionCardProps extends CardProps {
  readonly action: Action
}

/** A tool call to approve, edit or reject. */
export function ActionCard({ action, answer, isAnswered, onAnswer, onReopen }: ActionCardProps) {
  const [mode, setMode] = useState<'view' | 'edit' | 'reject'>('view')
  const title = readableName(action.name)
  const decide = (decision: Decision): void => {
    setMode('view')
    onAnswer(decision)
  }
  const view = (): void => setMode('view')
  if (isAnswered)
    return (
      <Card
        title={`${title} · ${briefOf(action.args)}`}
        outcome={OUTCOMES[(answer as Decision).type]}
        onReopen={onReopen}
      />
    )
  const can = (kind: Decision['type']): boolean => action.allowed.includes(kind)
  return (
    <Card title={`${title}?`}>
      {mode === 'edit' ? (
        <ActionForm action={action} onDecide={decide} onCancel={view} />
      ) : (
        <Value value={action.args} />
      )}
      {mode === 'reject' && <RejectForm onDecide={decide} onCancel={view} />}
      {mode === 'view' && (
        <div className="flex flex-wrap gap-2">
          {can('approve') && (
            <Button kind="primary" onClick={() => decide({ type: 'approve' })}>
              Approve
            </Button>
          )}
          {can('edit') && <Button onClick={() => setMode('edit')}>Edit</Button>}
          {can('reject') && <Button onClick={() => setMode('reject')}>Reject</Button>}
        </div>
      )}
    </Card>
  )
}

/** Distinguishes calls of the same tool. */
const briefOf = (args: Arguments): string =>
  Object.values(args)
    .filter((value) => typeof value !== 'object')
    .join(' · ')
    .slice(0, 60)
