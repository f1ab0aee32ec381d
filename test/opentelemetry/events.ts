import type { ServerEvent } from '../../src/index.ts'
import { TRACEPARENT } from './telemetry.ts'

/** What every event of the run of these tests has. */
export const about = {
  threadId: 'thread-1',
  runId: 'run-1',
  assistantId: 'a',
  owner: 'owner-1',
  at: 1_000,
  traceparent: TRACEPARENT,
} as const

const usage = { inputTokens: 1, outputTokens: 1 }
const ending = { ...about, durationMs: 5, usage }

/** One event of every type, in an order in which they may come, with ids in every text. */
export const EVENTS: { readonly [Type in ServerEvent['type']]: Extract<ServerEvent, { type: Type }> } = {
  'run.queued': { ...about, type: 'run.queued', position: 1 },
  'run.started': { ...about, type: 'run.started', waitedMs: 1 },
  'run.model_called': {
    ...about,
    type: 'run.model_called',
    call: {
      startedAt: 1,
      firstTokenAt: 2,
      endedAt: 3,
      provider: 'openai',
      model: 'm',
      finishReason: 'stop',
      usage,
      error: 'run-1: thread-1',
    },
  },
  'run.handed_over': { ...about, type: 'run.handed_over' },
  'run.fenced': { ...about, type: 'run.fenced' },
  'run.taken_over': { ...about, type: 'run.taken_over', attempt: 2 },
  'run.ended': { ...ending, type: 'run.ended', status: 'error', reason: 'failed', error: new Error('run-1') },
  'run.interrupted': {
    ...ending,
    type: 'run.interrupted',
    status: 'interrupted',
    interruptIds: ['interrupt-1'],
  },
  'thread.deleted': { type: 'thread.deleted', threadId: 'thread-1', owner: 'owner-1', at: 1_000 },
  'cron.due': {
    type: 'cron.due',
    cronId: 'cron-1',
    assistantId: 'a',
    owner: 'owner-1',
    threadId: 'thread-1',
    runId: 'run-1',
    dueAt: 900,
    missed: 0,
    at: 1_000,
  },
  'delivery.failed': {
    type: 'delivery.failed',
    kind: 'a2a_push',
    threadId: 'thread-1',
    runId: 'run-1',
    host: 'thread-1',
    failures: 1,
    error: new Error('thread-1'),
    at: 1_000,
  },
  'store.unavailable': { type: 'store.unavailable', error: new Error('thread-1'), at: 1 },
  'store.recovered': { type: 'store.recovered', awayMs: 1, at: 2 },
  'request.refused': {
    type: 'request.refused',
    method: 'thread-1',
    route: '/threads/:thread_id',
    status: 404,
    code: 'not_found',
    at: 1,
  },
}
