import type { TracedRun } from 'agentwire/tracing'

/** Runs as a table, each indented beneath its parent. */
export function tableOf(runs: readonly TracedRun[]): string {
  const rows = [
    ['run', 'model', 'said', 'first token', 'took', 'in', 'cached', 'out', 'cost'],
    ...runs.map(rowOf),
  ]
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

function rowOf(run: TracedRun): string[] {
  const { name, dotted_order, outputs, events, start_time, end_time, error } = run
  const { ls_provider, ls_model_name, usage_metadata } = run.extra.metadata
  const usage = (usage_metadata ?? {}) as Readonly<Record<string, number>>
  const details = (usage.input_token_details ?? {}) as Readonly<Record<string, number>>
  const depth = dotted_order.split('.').length - 1
  const first = events.find((event) => event.name === 'new_token')
  const since = (time: string | undefined) => (time ? `${Date.parse(time) - Date.parse(start_time)} ms` : '')
  const count = (value: number | undefined) => (value === undefined ? '' : String(value))
  return [
    '  '.repeat(depth) + name,
    ls_model_name === undefined ? '' : `${ls_provider}/${ls_model_name}`,
    error ?? shorten(saidIn(outputs)),
    since(first?.time),
    since(end_time),
    count(usage.input_tokens),
    count(details.cache_read),
    count(usage.output_tokens),
    usage.total_cost === undefined ? '' : `$${usage.total_cost.toFixed(5)}`,
  ]
}

interface Block {
  readonly type: string
  readonly text?: string
  readonly name?: string
  readonly args?: object
}

function saidIn(outputs: TracedRun['outputs'] = {}): string {
  const messages = (outputs.messages ?? []) as readonly { readonly content: readonly Block[] }[]
  const blocks = messages.flatMap(({ content }) => content)
  if (blocks.length === 0) return typeof outputs.answer === 'string' ? outputs.answer : ''
  return blocks
    .map(({ type, text, name, args }) => {
      if (type === 'tool_call') return `${name}(${JSON.stringify(args)})`
      return type === 'reasoning' ? `(${text})` : text
    })
    .join(' ')
}

const shorten = (text: string): string => (text.length > 60 ? `${text.slice(0, 59)}…` : text)
