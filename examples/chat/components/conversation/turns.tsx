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

type Group = readonly Turn[]

/**
 * The conversation. A token only renders and lays out the last group of turns, however long the conversation
 * is. Groups are in groups themselves: in every frame, the browser checks each part that it may skip, but
 * none inside a part that it skips.
 */
export function Turns({ turns, activity, ...rest }: TurnsProps) {
  const groups = useRef<readonly Group[]>([])
  groups.current = groupsOf(turns, groups.current)
  const chapters = useRef<readonly (readonly Group[])[]>([])
  chapters.current = groupsOf(groups.current, chapters.current)
  return chapters.current.map((chapter, at) => (
    <ChapterView
      key={chapter[0]![0]!.id}
      groups={chapter}
      lastActivity={at === chapters.current.length - 1 ? activity : undefined}
      canChange={activity !== 'running'}
      {...rest}
    />
  ))
}

interface PartProps extends Omit<TurnsProps, 'turns' | 'activity'> {
  /** Undefined if the conversation's last turn is not in this part. */
  readonly lastActivity: Activity | undefined
  readonly canChange: boolean
}

/**
 * The browser skips parts far from the viewport, and remembers their heights. The heights before it has seen
 * them are those of eight groups.
 */
const ChapterView = memo(
  ({ groups, lastActivity, ...rest }: PartProps & { readonly groups: readonly Group[] }) => (
    <div className={lastActivity ? '' : '[contain-intrinsic-size:auto_1024rem] [content-visibility:auto]'}>
      {groups.map((group, at) => (
        <GroupView
          key={group[0]!.id}
          turns={group}
          lastActivity={at === groups.length - 1 ? lastActivity : undefined}
          {...rest}
        />
      ))}
    </div>
  ),
)

const GroupView = memo(
  ({ turns, histories, lastActivity, canChange, actions }: PartProps & { readonly turns: Group }) => (
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
  ),
)
