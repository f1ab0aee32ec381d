/** @jsxImportSource preact */
import { useMemo, useState } from 'preact/hooks'
import type { CheckpointRow, CheckpointState, ThreadDetail } from '../../wire.ts'
import { threadPath } from '../data/api.ts'
import { go, moveKeys, useAsked, useKeys } from '../data/hooks.ts'
import { fork } from '../data/runs.ts'
import type { LiveLog } from '../data/use-log.ts'
import { diff } from '../model/diff.ts'
import { shortId, shortSegment } from '../model/text.ts'
import { Changes, JsonTree } from './json-tree.tsx'
import { Action, Empty, Id, JsonField, Problem, Select } from './parts.tsx'

interface StateViewProps {
  readonly thread: ThreadDetail
  readonly live: LiveLog
  /** Rises when there may be new checkpoints. */
  readonly changes: number
}

export function StateView({ thread, live, changes }: StateViewProps) {
  const [ns, setNs] = useState('')
  const [chosen, setChosen] = useState<string>()
  const base = `${threadPath(thread.thread_id)}/checkpoints`
  const list = useAsked<readonly CheckpointRow[]>(`${base}?ns=${encodeURIComponent(ns)}`, changes)
  const namespaces = useNamespaces(live)
  const rows = list.data ?? []
  const open = rows.find(({ checkpoint_id }) => checkpoint_id === chosen) ?? rows[0]
  useKeys(moveKeys(rows, open ? rows.indexOf(open) : -1, (row) => setChosen(row.checkpoint_id)))
  return (
    <div class="state">
      <div class="checkpoints">
        <Select
          label="Namespace of the state"
          value={ns}
          options={[['', 'root'], ...namespaces]}
          onChange={setNs}
        />
        {list.error && <Problem>{list.error.message}</Problem>}
        <ul>
          {rows.map((row) => (
            <li key={row.checkpoint_id}>
              <button
                type="button"
                aria-current={row === open ? 'true' : undefined}
                onClick={() => setChosen(row.checkpoint_id)}
              >
                <span class="number">{row.step ?? ''}</span> <span>{row.source ?? 'checkpoint'}</span>
                <span class="dim cut">{row.next.length > 0 ? `→ ${row.next.join(', ')}` : 'end'}</span>
              </button>
            </li>
          ))}
        </ul>
        {list.data && rows.length === 0 && <Empty>No checkpoints here.</Empty>}
      </div>
      {open && <Checkpoint key={open.checkpoint_id} thread={thread} base={base} row={open} />}
    </div>
  )
}

/** The namespaces with checkpoints in the log, as savers name them. */
function useNamespaces({ log, version }: LiveLog) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the log changes in place, and its version says when
  return useMemo(() => {
    const own = log.entries.filter(
      ({ method, namespace }) => method === 'checkpoints' && namespace.length > 0,
    )
    const names = new Map(own.map(({ namespace }) => [namespace.join('|'), namespace]))
    return [...names].map(([ns, namespace]) => [ns, namespace.map(shortSegment).join(' › ')] as const)
  }, [version])
}

interface CheckpointProps {
  readonly thread: ThreadDetail
  readonly base: string
  readonly row: CheckpointRow
}

function Checkpoint({ thread, base, row }: CheckpointProps) {
  const [whole, setWhole] = useState(false)
  const ns = `?ns=${encodeURIComponent(row.checkpoint_ns)}`
  const state = useAsked<CheckpointState>(`${base}/${row.checkpoint_id}${ns}`)
  const before = useAsked<CheckpointState>(
    row.parent_id === null ? undefined : `${base}/${row.parent_id}${ns}`,
  )
  const isReady = state.data && (row.parent_id === null || before.data || before.error)
  return (
    <section class="checkpoint stack" aria-label="Checkpoint">
      <header class="line wrap">
        <h2>
          Step {row.step ?? '?'} <span class="dim">{row.source}</span>
        </h2>
        <Id id={row.checkpoint_id} />
        <button type="button" aria-pressed={!whole} onClick={() => setWhole(false)}>
          Changes
        </button>
        <button type="button" aria-pressed={whole} onClick={() => setWhole(true)}>
          Whole state
        </button>
      </header>
      {row.checkpoint_ns === '' && <ForkForm thread={thread} row={row} />}
      {row.tasks.length > 0 && (
        <p class="facts line wrap small dim">
          {row.tasks.map(({ task_id, name, error, interrupts }) => (
            <span key={task_id} class={error ? 'badge bad' : 'badge'}>
              {name}
              {interrupts > 0 && ` waits for ${interrupts}`}
              {error && ` failed: ${error}`}
            </span>
          ))}
        </p>
      )}
      {state.error && <Problem>{state.error.message}</Problem>}
      {!isReady && !state.error && <Empty>Loading…</Empty>}
      {isReady && whole && <JsonTree value={state.data!.values} open={2} />}
      {isReady && !whole && <StateChanges before={before.data?.values ?? {}} after={state.data!.values} />}
    </section>
  )
}

function StateChanges({ before, after }: { readonly before: unknown; readonly after: unknown }) {
  const changes = useMemo(() => diff(before, after), [before, after])
  return (
    <Changes
      changes={changes}
      label="Changes since the checkpoint before"
      none="This step has changed nothing."
    />
  )
}

/** A run from this checkpoint: what came after it stays in the history, and the thread goes on from here. */
function ForkForm({ thread, row }: Pick<CheckpointProps, 'thread' | 'row'>) {
  const [isOpen, setOpen] = useState(false)
  const [text, setText] = useState('null')
  const start = async (input: unknown) => {
    const { hash } = location
    await fork(thread, { checkpoint_id: row.checkpoint_id, input })
    // The user may have gone to another view in the meantime.
    if (location.hash === hash) go('threads', thread.thread_id, 'log')
  }
  if (!isOpen)
    return (
      <button type="button" onClick={() => setOpen(true)}>
        Fork from here…
      </button>
    )
  return (
    <div class="form line wrap">
      <JsonField
        label="Input of the new run, as JSON. null goes on from the state as it is."
        rows={4}
        text={text}
        onText={setText}
      >
        {(input) => (
          <Action kind="primary" run={() => start(input)}>
            Start a run from step {row.step ?? shortId(row.checkpoint_id)}
          </Action>
        )}
      </JsonField>
      <button type="button" onClick={() => setOpen(false)}>
        Cancel
      </button>
    </div>
  )
}
