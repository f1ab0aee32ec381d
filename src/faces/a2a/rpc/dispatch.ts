import type { Operation } from '../dialects/dialect.ts'
import { writeList } from '../dialects/v1-write.ts'
import type { StreamEntry } from '../model.ts'
import type { A2ACall, Operations } from '../operations/operations.ts'

/** Parses the params, calls the operation, and returns the result in the dialect's format. */
type Answer = (operations: Operations, call: A2ACall, params: unknown) => Promise<unknown>
type Open = (
  operations: Operations,
  call: A2ACall,
  params: unknown,
) => Promise<AsyncIterable<readonly StreamEntry[]>>

type Streamed = 'stream' | 'subscribe'

export const STREAMS: Readonly<Record<Streamed, Open>> = {
  stream: async (operations, call, params) =>
    operations.stream(call, (await call.dialect.readers()).readSend(params)),
  subscribe: async (operations, call, params) =>
    operations.subscribe(call, (await call.dialect.readers()).readTask(params)),
}

export const isStreamed = (operation: Operation): operation is Streamed => Object.hasOwn(STREAMS, operation)

export const ANSWERS: Readonly<Record<Exclude<Operation, Streamed>, Answer>> = {
  send: async (operations, call, params) =>
    call.dialect.writeSent(await operations.send(call, (await call.dialect.readers()).readSend(params))),
  getTask: async (operations, call, params) =>
    call.dialect.writeTask(await operations.getTask(call, (await call.dialect.readers()).readTask(params))),
  // Only v1.0 has it.
  listTasks: async (operations, call, params) =>
    writeList(await operations.listTasks(call, (await import('../dialects/v1-read.ts')).readList(params))),
  cancelTask: async (operations, call, params) =>
    call.dialect.writeTask(
      await operations.cancelTask(call, (await call.dialect.readers()).readTask(params)),
    ),
  setPush: async (operations, call, params) =>
    call.dialect.writePush(
      await operations.setPush(call, (await call.dialect.readers()).readSetPush(params)),
    ),
  getPush: async (operations, call, params) =>
    call.dialect.writePush(
      await operations.getPush(call, (await call.dialect.readers()).readPush(params, 'getPush')),
    ),
  listPush: async (operations, call, params) =>
    call.dialect.writePushList(
      await operations.listPush(call, (await call.dialect.readers()).readPush(params, 'listPush')),
    ),
  deletePush: async (operations, call, params) => {
    await operations.deletePush(call, (await call.dialect.readers()).readPush(params, 'deletePush'))
    return null
  },
  extendedCard: (operations, call) => operations.extendedCard(call),
}
