import { memo, useRef } from 'react'
import type { TurnHistory } from '../../lib/branches.ts'
import type { Activity } from '../../lib/tool-calls.ts'
import { keepList, type Turn } from '../../lib/turns.ts'
import { type TurnActions, TurnView } from './turn-view.tsx'

interface TurnsProps {
  readonly turns: readonly Turn[]
  readonly histories: ReadonlyMap<string, TurnHistory>
  /** What the agent does for the last turn. */
  readonly activity: Activity
  readonly actions: TurnActions
}

/** The conversation. All turns but the last are one list, which a token of the last one does not touch. */
export function Turns({ turns, activity, ...rest }: TurnsProps) {
  const settled = useRef<readonly Turn[]>([])
  settled.current = keepList(settled.current, turns.slice(0, -1))
  const last = turns.at(-1)
  const canChange = activity !== 'running'
  return (
    <>
      <Settled turns={settled.current} canChange={canChange} {...rest} />
      {last && (
        <TurnView
          key={last.id}
          turn={last}
          history={rest.histories.get(last.id)}
          activity={activity}
          canChange={canChange}
          actions={rest.actions}
        />
      )}
    </>
  )
}

type SettledProps = Omit<TurnsProps, 'activity'> & { readonly canChange: boolean }

const Settled = memo(({ turns, histories, canChange, actions }: SettledProps) =>
  turns.map((turn) => (
    // The browser leaves out what is far from the view, and remembers its height.
    <div key={turn.id} className="mb-6 [contain-intrinsic-size:auto_16rem] [content-visibility:auto]">
      <TurnView
        turn={turn}
        history={histories.get(turn.id)}
        activity="idle"
        canChange={canChange}
        actions={actions}
      />
    </div>
  )),
)
