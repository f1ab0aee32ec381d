import { Role, TaskState } from '@a2a-js/sdk'
import { JsonRpcTransportFactory } from '@a2a-js/sdk/client'
import type { Message } from 'a2a-sdk-03'
import { JsonRpcTransport } from 'a2a-sdk-03/client'
import { clientOf, type Json, type StreamEvent } from '../a2a/streams.ts'

/** A client of one agent, whose streams are given in the shapes of v0.3. */
export interface StreamClient {
  stream(message: Json): AsyncIterable<StreamEvent>
  resubscribe(id: string, lastEventId: string | undefined): AsyncIterable<StreamEvent>
}

export type OpenStreamClient = (url: string, fetchImpl: typeof fetch) => Promise<StreamClient>

async function* each(results: AsyncIterable<Json>): AsyncGenerator<StreamEvent> {
  for await (const result of results) yield { id: undefined, result, error: undefined }
}

const bare =
  (withId: boolean): OpenStreamClient =>
  async (url, fetchImpl) => {
    const client = clientOf(url, fetchImpl)
    return {
      async *stream(message) {
        yield* await client.stream(message)
      },
      async *resubscribe(id, lastEventId) {
        yield* await client.resubscribe(id, withId ? lastEventId : undefined)
      },
    }
  }

const sdk03: OpenStreamClient = async (endpoint, fetchImpl) => {
  const transport = new JsonRpcTransport({ endpoint, fetchImpl })
  return {
    stream: (message) => each(transport.sendMessageStream({ message: message as Message })),
    resubscribe: (id) => each(transport.resubscribeTask({ id })),
  }
}

const VERSION = { serviceParameters: { 'A2A-Version': '1.0' } }
const tenant = ''

const sdk1: OpenStreamClient = async (url, fetchImpl) => {
  const transport = await new JsonRpcTransportFactory({ fetchImpl }).create(url, undefined as never)
  return {
    stream: ({ messageId, contextId, parts }) => {
      const message = {
        messageId,
        contextId,
        taskId: '',
        role: Role.ROLE_USER,
        parts: parts.map(({ text, data }: Json) => ({
          content: data ? { $case: 'data', value: data } : { $case: 'text', value: text },
          metadata: undefined,
          filename: '',
          mediaType: '',
        })),
        metadata: undefined,
        extensions: [],
        referenceTaskIds: [],
      }
      const request = { tenant, message, configuration: undefined, metadata: undefined }
      return each(resultsOf(transport.sendMessageStream(request, VERSION)))
    },
    resubscribe: (id) => each(resultsOf(transport.resubscribeTask({ tenant, id }, VERSION))),
  }
}

const ENDS = [TaskState.TASK_STATE_COMPLETED, TaskState.TASK_STATE_FAILED, TaskState.TASK_STATE_CANCELED]

async function* resultsOf(events: AsyncIterable<{ readonly payload?: Json }>): AsyncGenerator<Json> {
  for await (const { payload } of events) {
    const { $case, value } = payload
    if ($case === 'task') yield { kind: 'task', ...value }
    else if ($case === 'statusUpdate')
      yield { kind: 'status-update', ...value, final: ENDS.includes(value.status.state) }
    else {
      const parts = value.artifact.parts.map(({ content }: Json) =>
        content.$case === 'text'
          ? { kind: 'text', text: content.value }
          : { kind: 'data', data: content.value },
      )
      yield { kind: 'artifact-update', ...value, artifact: { ...value.artifact, parts } }
    }
  }
}

/** By what they go on with after a cut: the number of the last event, or the start of the run. */
export const STREAM_CLIENTS: Readonly<Record<string, OpenStreamClient>> = {
  'Last-Event-ID': bare(true),
  'no Last-Event-ID': bare(false),
  '@a2a-js/sdk 0.3.14': sdk03,
  '@a2a-js/sdk 1.3.0': sdk1,
}
