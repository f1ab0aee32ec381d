import * as z from 'zod/mini'
import { later } from '../../../core/lazy.ts'
import { type FaceRow, type RouteFields, route } from '../../kit/routes.ts'
import type { PlatformContext } from '../context.ts'
import { cronSchema, cronSearchSchema } from './wire.ts'

const count = { type: 'integer', minimum: 0 }
const listOf = (items: object) => ({ type: 'array', items })

const handlers = () => import('./handlers.ts')
/** The schema of a cron is loaded with the document. */
const answersCron = async () => ({ 200: (await import('../answers.ts')).cron })

const namedCron = later(handlers, 'namedCron')

const postCron: RouteFields<PlatformContext, undefined> = {
  // The assistant is in the body, and creating a cron needs two permissions.
  permission: null,
  summary: 'Create a cron: a run that is started by a schedule. The other fields are those of a run.',
  body: (toJson) => toJson(cronSchema),
  answers: answersCron,
  run: later(handlers, 'postCron'),
}

/** Runs that are started repeatedly, on a schedule. */
export const CRON_ROUTES: readonly FaceRow<PlatformContext>[] = [
  route('POST', '/runs/crons', postCron),
  route('POST', '/threads/:thread_id/runs/crons', postCron),
  route('PATCH', '/runs/crons/:cron_id', {
    permission: 'crons:update',
    resource: namedCron,
    summary: 'Update a cron.',
    body: (toJson) => toJson(cronSchema),
    answers: answersCron,
    run: later(handlers, 'patchCron'),
  }),
  route('DELETE', '/runs/crons/:cron_id', {
    permission: 'crons:delete',
    resource: namedCron,
    summary: 'Delete a cron.',
    answers: { 204: null },
    run: later(handlers, 'deleteCron'),
  }),
  route('POST', '/runs/crons/search', {
    permission: 'crons:search',
    summary: 'Search crons.',
    body: cronSearchSchema,
    answers: async () => {
      const { cron } = await import('../answers.ts')
      return { 200: listOf(z.partial(z.extend(cron, { now: z.iso.datetime() }))) }
    },
    run: later(handlers, 'searchCrons'),
  }),
  route('POST', '/runs/crons/count', {
    permission: 'crons:search',
    summary: 'Count crons.',
    body: cronSearchSchema,
    answers: { 200: count },
    run: later(handlers, 'getCronCount'),
  }),
]
