// #region first
import { createAgentClient, type FirstState, useAgentStream } from 'agentwire/react'

const apiUrl = 'http://127.0.0.1:3000'
const client = createAgentClient({ apiUrl })

/** On the server that renders the page, with the headers of the request for the page. */
export async function readFirstState(threadId: string, headers: Headers): Promise<FirstState | undefined> {
  const url = `${apiUrl}/threads/${encodeURIComponent(threadId)}/state?streamed=true`
  const authorization = headers.get('authorization') ?? ''
  const response = await fetch(url, { headers: { authorization } })
  return response.ok ? response.json() : undefined
}

interface ThreadProps {
  readonly threadId: string
  readonly firstState: FirstState | undefined
}

export function Thread({ threadId, firstState }: ThreadProps) {
  const { stream } = useAgentStream(client, { threadId, firstState })
  return stream.messages.map((message) => <p key={message.id}>{message.text}</p>)
}
// #endregion
