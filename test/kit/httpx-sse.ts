/** An event as `httpx-sse` gives it to its caller. */
export interface DispatchedEvent {
  readonly event: string
  readonly data: string
  readonly id: string
}

/**
 * Reads lines as the Python package `httpx-sse` does: an empty line dispatches an event if it has an event
 * name, data, an id or a retry time. The last id stays, so each empty line after the first id dispatches one.
 */
export function createHttpxReader(): (text: string) => readonly DispatchedEvent[] {
  let rest = ''
  let [event, id, retry] = ['', '', '']
  let data: string[] = []
  return (text) => {
    const lines = (rest + text).split(/\r\n|\n|\r/)
    rest = lines.pop()!
    const dispatched: DispatchedEvent[] = []
    for (const line of lines) {
      const [, field, value = ''] = /^([^:]*):? ?(.*)$/.exec(line)!
      if (line !== '') {
        if (field === 'event') event = value
        else if (field === 'data') data.push(value)
        else if (field === 'id' && !value.includes('\0')) id = value
        else if (field === 'retry' && /^\d+$/.test(value)) retry = value
      } else if (event || data.length > 0 || id || retry) {
        dispatched.push({ event, data: data.join('\n'), id })
        event = retry = ''
        data = []
      }
    }
    return dispatched
  }
}
