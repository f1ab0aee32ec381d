/** @jsxImportSource preact */
import type { RunRow, ThreadDetail } from '../../wire.ts'
import { ask } from '../data/api.ts'
import { clockText, durationText } from '../model/text.ts'
import { JsonTree } from './json-tree.tsx'
import { Action, Empty, Id, Status } from './parts.tsx'

interface RunsViewProps {
  readonly thread: ThreadDetail
  readonly onDone: () => void
}

/** The runs of a thread whose records the store still has. */
export function RunsView({ thread, onDone }: RunsViewProps) {
  const { runs, metadata } = thread
  const cancel = (run: RunRow) => async () => {
    await ask(`/threads/${encodeURIComponent(thread.thread_id)}/runs/${run.run_id}/cancel`, {})
    onDone()
  }
  return (
    <div class="runs">
      {runs.length === 0 ? (
        <Empty>No records of runs: they are kept for a day after a run has ended.</Empty>
      ) : (
        <div class="scroll">
          <table>
            <thead>
              <tr>
                <th>Run</th>
                <th>Status</th>
                <th>Asked for</th>
                <th>Waited</th>
                <th>First event</th>
                <th>Attempts</th>
                <th>Started as</th>
                <th>
                  <span class="hidden">Action</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {runs.map((run) => (
                <tr key={run.run_id}>
                  <td>
                    <Id id={run.run_id} />
                  </td>
                  <td>
                    <Status status={run.status === 'running' ? 'busy' : run.status} />
                    {run.error && <div class="error-text">{run.error}</div>}
                  </td>
                  <td class="number">{clockText(run.created_at)}</td>
                  <td class="number">
                    {run.started_at === null
                      ? 'waits'
                      : durationText(Math.max(0, run.started_at - run.created_at))}
                  </td>
                  <td class="number">{run.first_seq ?? '–'}</td>
                  <td class="number">{run.attempts}</td>
                  <td>
                    {run.checkpoint_id === null ? (
                      run.multitask_strategy
                    ) : (
                      <>
                        fork of <Id id={run.checkpoint_id} />
                      </>
                    )}
                  </td>
                  <td>
                    {(run.status === 'running' || run.status === 'pending') && (
                      <Action kind="danger" run={cancel(run)}>
                        Stop
                      </Action>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <h2>Metadata</h2>
      <JsonTree value={metadata} />
    </div>
  )
}
