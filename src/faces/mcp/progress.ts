import type { Answer, EventFilter } from '../../engine/index.ts'
import { isRecord } from '../../messages/record.ts'
import type { LogGap, ThreadEvent } from '../../messages/thread-events/index.ts'
import type { AnswerItem } from '../kit/reading/answer-item.ts'
import { createAnswerReader } from '../kit/reading/answer-reader.ts'
import type { McpCall } from './options.ts'

/** The events that progress notifications are made from. */
export const PROGRESS_EVENTS: EventFilter = { channels: ['lifecycle', 'tools', 'custom'] }

interface Progress {
  readonly progress?: number | undefined
  readonly total?: number | undefined
  readonly message?: string | undefined
}

/**
 * Reads an answer to its end, or until its call is answered with a task, and notifies the client of steps,
 * tool calls and custom events. From one batch of events, only the last message is sent, except for the
 * agent's own numbers. Progress increases with each notification.
 */
export async function tellProgress(
  { request }: McpCall,
  progressToken: string | number,
  answer: Answer<readonly (ThreadEvent | LogGap)[]>,
  isAnswered: () => boolean,
): Promise<void> {
  const reader = createAnswerReader()
  let last = -1
  const tell = ({ progress, ...rest }: Progress) => {
    last = progress !== undefined && progress > last ? progress : last + 1
    const params = { progressToken, progress: last, ...rest }
    return request.notify({ method: 'notifications/progress', params })
  }
  for await (const batch of answer) {
    if (isAnswered()) return
    let line: Progress | undefined
    for (const event of batch)
      for (const item of reader.push(event)) {
        const told = progressOf(item)
        if (told?.progress === undefined) line = told ?? line
        else await tell(told)
      }
    if (line) await tell(line)
  }
}

/** The progress in an item. A custom event may be `{ progress, total?, message? }`. */
function progressOf(item: AnswerItem): Progress | undefined {
  if (item.type === 'node') return item.state === 'started' ? { message: item.name } : undefined
  if (item.type === 'callStart') return { message: `Calls ${item.call.name}` }
  if (item.type !== 'custom') return undefined
  const { payload } = item
  if (typeof payload === 'string') return { message: payload }
  if (!isRecord(payload)) return undefined
  const { progress, total, message } = payload
  if (typeof progress !== 'number' && typeof message !== 'string') return undefined
  return {
    ...(typeof progress === 'number' && { progress }),
    ...(typeof total === 'number' && { total }),
    ...(typeof message === 'string' && { message }),
  }
}
