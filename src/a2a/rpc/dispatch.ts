import type { Operation } from '../dialects/dialect.ts'
import { readList } from '../dialects/v1-read.ts'
import { writeList } from '../dialects/v1-write.ts'
import type { StreamEntry } from '../model.ts'
import type { A2ACall, Operations } from '../operations/operations.ts'

/** Reads the params, calls the operation, and returns the result as the dialect writes it. */
type Answer = (operations: Operations, call: A2ACall, params: unknown) => Promise<unknown>
type Open = (operations: Operations, call: A2ACall, params: unknown) => AsyncIterable<readonly StreamEntry[]>

type Streamed = 'stream' | 'subscribe'

export const STREAMS: Readonly<Record<Streamed, Open>> = {
  stream: (operations, call, params) => operations.stream(call, call.dialect.readSend(params)),
  subscribe: (operations, call, params) => operations.subscribe(call, call.dialect.readTask(params)),
}

export const isStreamed = (operation: Operation): operation is Streamed => Object.hasOwn(STREAMS, operation)

export const ANSWERS: Readonly<Record<Exclude<Operation, Streamed>, Answer>> = {
  send: async (operations, call, params) =>
    call.dialect.writeSent(await operations.send(call, call.dialect.readSend(params))),
  getTask: async (operations, call, params) =>
    call.dialect.writeTask(await operations.getTask(call, call.dialect.readTask(params))),
  // Only v1.0 has it.
  listTasks: async (operations, call, params) =>
    writeList(await operations.listTasks(call, readList(params))),
  cancelTask: async (operations, call, params) =>
    call.dialect.writeTask(await operations.cancelTask(call, call.dialect.readTask(params))),
  setPush: async (operations, call, params) =>
    call.dialect.writePush(await operations.setPush(call, call.dialect.readSetPush(params))),
  getPush: async (operations, call, params) =>
    call.dialect.writePush(await operations.getPush(call, call.dialect.readPush(params, 'getPush'))),
  listPush: async (operations, call, params) =>
    call.dialect.writePushList(await operations.listPush(call, call.dialect.readPush(params, 'listPush'))),
  deletePush: async (operations, call, params) => {
    await operations.deletePush(call, call.dialect.readPush(params, 'deletePush'))
    return null
  },
  extendedCard: (operations, call) => operations.extendedCard(call),
}
