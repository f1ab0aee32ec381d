import * as z from 'zod/mini'
import { ownerOf } from '../../../core/principal.ts'
import {
  etagOf,
  hasAlready,
  IDEMPOTENCY_KEY,
  PREFER_WAIT,
  readUntil,
  requestKey,
  secondsToWait,
} from '../../api/headers.ts'
import { route, tagged } from '../../api/route.ts'
import { refusal } from '../../errors.ts'
import { presentDeployment, presentRevision } from '../../present.ts'
import { REVISION_STATUSES, type RevisionStatus, UNDER_WAY } from '../../records/records.ts'
import * as t from '../../wire/common.ts'
import { DEPLOYMENT, DEPLOYMENTS_TAG, REVISION } from '../../wire/deployment.ts'
import { REVISION_CHANGE, REVISION_SOURCE_CONFIG, TRACKED_PACKAGES } from '../../wire/source.ts'
import {
  commaSeparated,
  findDeployment,
  onDeployment,
  onRevision,
  revisionOfDeployment,
} from '../on-deployment.ts'
import { checkDeployable } from '../rules.ts'
import { changeDeployment, redeployed } from './change.ts'

export const revisionOperations = tagged(DEPLOYMENTS_TAG, [
  route('GET', '/v2/deployments/:deployment_id/revisions', {
    summary: 'List Revisions',
    description: 'Newest first.',
    params: t.DEPLOYMENT_PATH,
    query: z.object({
      ...t.PAGE_QUERY,
      status: t.textQuery('Statuses, separated by commas.'),
      remote_reconciled: z.optional(t.described(t.BOOLEAN, 'Accepted, and without effect.')),
    }),
    answers: { 200: t.pageOf('RevisionsList', REVISION) },
    errors: [400, 404],
    run: async (context, { params, query: { limit, offset, status }, call }) => {
      const statuses = commaSeparated(status)?.map(statusOf)
      const deployment = await findDeployment(context, call, params.deployment_id)
      const page = await context.deployments.listRevisions(deployment, statuses, { limit, offset })
      return { body: { resources: page.map(presentRevision), offset: offset + page.length } }
    },
  }),
  onDeployment('POST', '/v2/deployments/:deployment_id/revisions', {
    summary: 'Create Revision',
    description: 'Always makes a revision. What is left out is that of the deployment.',
    body: t.titled('RevisionCreateRequest', {
      source_config: z.nullish(REVISION_SOURCE_CONFIG),
      ...REVISION_CHANGE,
      tracked_packages: TRACKED_PACKAGES,
    }),
    headers: IDEMPOTENCY_KEY,
    bodyOptional: true,
    answers: { 201: REVISION },
    errors: [400, 404, 409],
    run: async (deployment, input, context) => {
      const key = await requestKey(context.secrets, input)
      const changed = await changeDeployment(context, deployment, input.body, { isRevision: true, key })
      const revision = await revisionOfDeployment(context, changed, key?.id ?? changed.latestRevisionId!)
      return { body: presentRevision(revision) }
    },
  }),
  route('GET', '/v2/deployments/:deployment_id/revisions/:revision_id', {
    summary: 'Get Revision',
    description:
      'With the header `Prefer: wait=N` it answers within N seconds, at most 60: when the revision is another than that of `If-None-Match`, or without that header, when it is no longer under way.',
    params: t.REVISION_PATH,
    headers: PREFER_WAIT,
    answers: { 200: REVISION },
    errors: [404],
    run: async (context, input) => {
      const { request, signal, principal } = input.call
      const { deployment_id: id, revision_id } = input.params
      const owner = ownerOf(principal)
      const read = async () =>
        presentRevision(await revisionOfDeployment(context, { id, owner }, revision_id))
      const seconds = secondsToWait(request)
      if (seconds === undefined) return { body: await read() }
      const isFollowed = request.headers.has('if-none-match')
      const body = await readUntil({
        seconds,
        read,
        isDone: (revision) =>
          isFollowed
            ? !hasAlready(request, etagOf(JSON.stringify(revision)))
            : !UNDER_WAY.has(revision.status),
        changed: (ms, ended) => context.deployments.changed(id, ms, ended),
        signals: [signal, context.closing],
      })
      return { body, headers: { 'preference-applied': `wait=${seconds}` } }
    },
  }),
  onRevision('POST', '/v2/deployments/:deployment_id/revisions/:revision_id/redeploy', {
    summary: 'Redeploy Revision',
    description: 'Makes a new revision out of this one. What was built for it is not built again.',
    headers: IDEMPOTENCY_KEY,
    answers: { 200: DEPLOYMENT },
    errors: [400, 404, 409],
    run: async ({ deployment, revision }, input, context) => {
      checkDeployable(context.deployer, revision)
      const key = await requestKey(context.secrets, input)
      const changed = await context.deployments.update(deployment.id, (now) => {
        const made = redeployed(now, revision)
        return { ...made, revision: { ...made.revision, ...key } }
      })
      return { body: await presentDeployment(context, changed) }
    },
  }),
  interruptAt('interrupt'),
  /** The path that some clients use instead. */
  interruptAt('interruption'),
])

function statusOf(text: string): RevisionStatus {
  const status = REVISION_STATUSES.find((known) => known === text)
  if (status === undefined) throw refusal(400, `'status' must be some of ${REVISION_STATUSES.join(', ')}.`)
  return status
}

function interruptAt(verb: string) {
  return onRevision('POST', `/v2/deployments/:deployment_id/revisions/:revision_id/${verb}`, {
    summary: 'Interrupt Revision',
    description: 'Stops a revision that is under way. What served before goes on serving.',
    answers: { 200: REVISION },
    errors: [400, 404],
    run: async ({ deployment, revision }, _, { deployments }) => ({
      body: presentRevision(await deployments.interrupt(deployment, revision.id)),
    }),
  })
}
