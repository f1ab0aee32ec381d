import { randomUUID } from 'node:crypto'
import { request } from '../../kit/client.ts'
import type { Json } from '../../kit/events.ts'
import type { Door, Shown } from '../door.ts'

/** A2A 1.0, over its streams. */
export const a2a: Door = {
  name: 'A2A',
  faces: [],
  open({ origin, threadId, agent }) {
    let taskId: string | undefined
    const post = async (message: object): Promise<Shown> => {
      const { body } = await request(
        origin,
        'POST',
        `/a2a/${agent}`,
        { jsonrpc: '2.0', id: 1, method: 'SendStreamingMessage', params: { message } },
        { 'a2a-version': '1.0' },
      )
      const items: readonly Json[] = [...(body as string).matchAll(/^data: (.*)$/gm)].map(
        ([, data]) => JSON.parse(data!).result,
      )
      return shownBy(items)
    }
    const message = (parts: readonly object[]) => ({
      role: 'ROLE_USER',
      messageId: randomUUID(),
      contextId: threadId,
      parts,
    })
    const shownBy = (items: readonly Json[]): Shown => {
      taskId = items.find(({ task }) => task)?.task.id ?? taskId
      let text = ''
      for (const { artifactUpdate } of items) {
        if (!artifactUpdate) continue
        const more = artifactUpdate.artifact.parts.map((part: Json) => part.text ?? '').join('')
        text = artifactUpdate.append ? text + more : more
      }
      const { state, message: said } = items.filter(({ statusUpdate }) => statusUpdate).at(-1)!
        .statusUpdate.status
      return { text, calls: undefined, end: ENDS[state]!, error: said?.parts[0].text }
    }
    return {
      send: (text) => post(message([{ text }])),
      approve: () =>
        post({ ...message([{ data: { resume: { decisions: [{ type: 'approve' }] } } }]), taskId }),
    }
  },
}

const ENDS: Readonly<Record<string, Shown['end']>> = {
  TASK_STATE_COMPLETED: 'completed',
  TASK_STATE_INPUT_REQUIRED: 'asks',
  TASK_STATE_FAILED: 'failed',
}
