import { Ban, Check, CircleHelp, CircleSlash, LoaderCircle, type LucideIcon, X } from 'lucide-react'
import { readableName, readResult, type ToolCall, type ToolStatus } from '../../lib/tool-calls.ts'
import { Value } from './value.tsx'

const STATUSES: Readonly<Record<ToolStatus, readonly [LucideIcon, string, string]>> = {
  running: [LoaderCircle, 'animate-spin text-brand', 'running'],
  waiting: [CircleHelp, 'text-warn', 'waits for you'],
  finished: [Check, 'text-good', 'done'],
  failed: [X, 'text-bad', 'failed'],
  rejected: [Ban, 'text-faint', 'rejected'],
  stopped: [CircleSlash, 'text-faint', 'stopped'],
}

/** A tool call: its name and state, and when expanded its arguments and result. */
export function ToolCallView({ call }: { readonly call: ToolCall }) {
  const [Icon, colour, words] = STATUSES[call.status]
  return (
    <details className="group rounded-lg border border-line bg-panel text-sm">
      <summary className="flex cursor-pointer items-center gap-2 rounded-lg px-3 py-2 hover:bg-hover pointer-coarse:min-h-11">
        <Icon aria-hidden className={`size-4 shrink-0 ${colour}`} />
        <span className="truncate font-medium">{readableName(call.name)}</span>
        <span className="ml-auto shrink-0 text-faint">{words}</span>
      </summary>
      <div className="flex flex-col gap-3 border-line border-t px-3 py-3">
        <Section title="Arguments" value={call.args} />
        {call.result !== undefined && (
          <Section
            title={
              call.status === 'failed'
                ? 'Error'
                : call.status === 'rejected'
                  ? 'Why it did not run'
                  : 'Result'
            }
            value={readResult(call.result)}
          />
        )}
      </div>
    </details>
  )
}

const Section = ({ title, value }: { readonly title: string; readonly value: unknown }) => (
  <section className="flex min-w-0 flex-col gap-1">
    <h3 className="text-faint text-xs">{title}</h3>
    <Value value={value} />
  </section>
)
