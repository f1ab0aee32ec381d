import { memo, useRef } from 'react'
import type { TurnHistory } from '../../lib/branches.ts'
import type { Activity } from '../../lib/tool-calls.ts'
import { groupsOf, type Turn } from '../../lib/turns.ts'
import { type TurnActions, TurnView } from './turn-view.tsx'

interface TurnsProps {
  readonly turns: readonly Turn[]
  readonly histories: ReadonlyMap<string, TurnHistory>
  /** The agent's activity for the last turn. */
  readonly activity: Activity
  readonly actions: TurnActions
}

/**
 * The conversation. A token only renders and lays out the last group of turns, however long the conversation
 * is.
 */
export function Turns({ turns, activity, ...rest }: TurnsProps) {
  const groups = useRef<readonly (readonly Turn[])[]>([])
  groups.current = groupsOf(turns, groups.current)
  return groups.current.map((group, at) => {
    const isLast = at === groups.current.length - 1
    return (
      <Group
        key={group[0]!.id}
        turns={group}
        lastActivity={isLast ? activity : undefined}
        canChange={activity !== 'running'}
        {...rest}
      />
    )
  })
}

interface GroupProps extends Omit<TurnsProps, 'activity'> {
  /** Undefined if the conversation's last turn is not in this group. */
  readonly lastActivity: Activity | undefined
  readonly canChange: boolean
}

const Group = memo(({ turns, histories, lastActivity, canChange, actions }: GroupProps) => (
  // The browser skips groups far from the viewport, and remembers their heights. It checks each group in
  // every frame, which for single turns would cost more than it saves.
  <div className={lastActivity ? '' : '[contain-intrinsic-size:auto_128rem] [content-visibility:auto]'}>
    {turns.map((turn, at) => (
      <div key={turn.id} className="mb-6">
        <TurnView
          turn={turn}
          history={histories.get(turn.id)}
          activity={(at === turns.length - 1 ? lastActivity : undefined) ?? 'idle'}
          canChange={canChange}
          actions={actions}
        />
      </div>
    ))}
  </div>
))
