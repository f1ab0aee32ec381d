/** @jsxImportSource preact */
import type { RunRow, ThreadDetail } from '../../wire.ts'
import { ask, threadPath } from '../data/api.ts'
import { clockText, durationText } from '../model/text.ts'
import { JsonTree } from './json-tree.tsx'
import { Action, Empty, Id, Status, Table } from './parts.tsx'

interface RunsViewProps {
  readonly thread: ThreadDetail
  readonly onDone: () => void
}

/** The runs of a thread whose records the store still has. */
export function RunsView({ thread, onDone }: RunsViewProps) {
  const { runs, metadata } = thread
  const cancel = (run: RunRow) => async () => {
    await ask(`${threadPath(thread.thread_id)}/runs/${run.run_id}/cancel`, {})
    onDone()
  }
  return (
    <div class="runs">
      {runs.length === 0 ? (
        <Empty>No records of runs: they are kept for a day after a run has ended.</Empty>
      ) : (
        <Table
          rows={runs}
          keyOf={(run) => run.run_id}
          columns={[
            ['Run', (run) => <Id id={run.run_id} />],
            ['Status', (run) => <RunStatus run={run} />],
            ['Asked for', (run) => clockText(run.created_at), 'number'],
            ['Waited', waitedText, 'number'],
            ['First event', (run) => run.first_seq ?? '–', 'number'],
            ['Attempts', (run) => run.attempts, 'number'],
            ['Started as', startOf],
            ['Action', (run) => isOpen(run) && <Stop run={cancel(run)} />],
          ]}
        />
      )}
      <h2>Metadata</h2>
      <JsonTree value={metadata} />
    </div>
  )
}

const isOpen = ({ status }: RunRow): boolean => status === 'running' || status === 'pending'

const RunStatus = ({ run: { status, error } }: { readonly run: RunRow }) => (
  <>
    <Status status={status === 'running' ? 'busy' : status} />
    {error && <div class="error-text">{error}</div>}
  </>
)

const waitedText = ({ started_at, created_at }: RunRow): string =>
  started_at === null ? 'waits' : durationText(Math.max(0, started_at - created_at))

const startOf = ({ checkpoint_id: id, multitask_strategy: strategy }: RunRow) =>
  id === null ? (
    strategy
  ) : (
    <span>
      fork of <Id id={id} />
    </span>
  )

const Stop = ({ run }: { readonly run: () => Promise<void> }) => (
  <Action kind="danger" run={run}>
    Stop
  </Action>
)
