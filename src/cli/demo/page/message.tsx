import { Markdown } from './markdown.tsx'

/** What the page shows of a message. */
export interface ShownMessage {
  readonly id?: string | undefined
  readonly type: string
  readonly text: string
  /** The call that a tool's message answers. */
  readonly tool_call_id?: string
  readonly status?: string
  readonly tool_calls?: readonly {
    readonly id?: string
    readonly name: string
    readonly args: unknown
  }[]
}

interface MessageProps {
  readonly message: ShownMessage
  /** The thread, which has the results of the calls. */
  readonly all: readonly ShownMessage[]
}

/** A message with its tool calls. A tool's message is shown with the call that it answers. */
export function Message({ message, all }: MessageProps) {
  const { type, text, tool_calls: calls = [] } = message
  if (type === 'tool') return null
  if (type === 'human') return <article className="human">{text}</article>
  return (
    <article className="ai">
      <Markdown text={text} />
      {calls.map(({ id, name, args }) => {
        const result = all.find((one) => one.tool_call_id === id)
        return (
          <details key={id}>
            <summary>
              <code>{name}</code> {stateOf(result)}
            </summary>
            <pre>{JSON.stringify(args, undefined, 2)}</pre>
            {result && <pre>{result.text}</pre>}
          </details>
        )
      })}
    </article>
  )
}

function stateOf(result: ShownMessage | undefined): string {
  if (result === undefined) return 'called'
  return result.status === 'error' ? 'failed' : 'done'
}
